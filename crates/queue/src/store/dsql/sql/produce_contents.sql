-- What they hold.   $1 $2 $3 as owned.sql   $4 ids
INSERT INTO leasehold_contents (queue, partition, id, reference, encoding, kind, payload)
SELECT $1, $2, made.id, made.reference, made.encoding, made.kind, made.payload
  FROM unnest($4::text[], $8::text[], $9::text[], $10::text[], $11::bytea[])
       AS made (id, reference, encoding, kind, payload)
 WHERE {owned}
