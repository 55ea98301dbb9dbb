-- What those hold that were added.   $1 $2 $3 as owned.sql   $4 ids
INSERT INTO leasehold_contents (queue, partition, id, reference, encoding, kind, payload)
SELECT $1, $2, made.id, made.reference, made.encoding, made.kind, made.payload
  FROM unnest($4::text[], $13::text[], $14::text[], $15::text[], $16::bytea[])
       AS made (id, reference, encoding, kind, payload)
 WHERE {owned} AND EXISTS (SELECT 1 FROM leasehold_items AS item WHERE {here} AND item.id = made.id)
