-- The clock that judges leases.
SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS micros
