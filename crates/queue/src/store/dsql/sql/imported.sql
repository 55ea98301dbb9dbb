-- Which were added, and which were here before.   $1 queue   $2 partition   $4 ids   $5 source ids
SELECT 1::bigint AS owned,
       ARRAY (SELECT item.id FROM leasehold_items AS item WHERE {here} AND item.id = ANY ($4::text[])) AS placed,
       ARRAY (SELECT item.id FROM leasehold_items AS item
               WHERE {here} AND item.source_id = ANY ($5::text[]) AND NOT item.id = ANY ($4::text[])
               ORDER BY item.id) AS known_ids,
       ARRAY (SELECT item.source_id FROM leasehold_items AS item
               WHERE {here} AND item.source_id = ANY ($5::text[]) AND NOT item.id = ANY ($4::text[])
               ORDER BY item.id) AS known_source_ids
