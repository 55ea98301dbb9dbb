coalesce((SELECT octet_length(content.reference)::bigint + octet_length(content.encoding) + octet_length(content.kind)
                 + octet_length(content.payload) FROM leasehold_contents AS content WHERE {content}), 0)
