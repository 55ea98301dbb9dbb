octet_length(item.reference)::bigint + octet_length(item.encoding) + octet_length(item.kind)
       + coalesce(octet_length(item.payload), 0)
