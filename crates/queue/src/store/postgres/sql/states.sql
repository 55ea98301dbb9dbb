-- What the items are, and whether the caller is still the owner: at least one row.
-- $1 $2 $3 as owned.sql   $4 ids   $5 how many
SELECT asked.owned, found.id, found.is_leased, found.is_scheduled
  FROM (SELECT EXISTS (SELECT FROM leasehold_partitions WHERE queue = $1 AND partition = $2 AND epoch = $3) AS owned)
       AS asked
  LEFT JOIN (SELECT item.id, item.is_leased, item.enqueue_at IS NOT NULL AS is_scheduled
               FROM (SELECT * FROM unnest($4::text[]) AS wanted (id) LIMIT $5) AS wanted
               JOIN {items} AS item ON item.id = wanted.id) AS found ON true
