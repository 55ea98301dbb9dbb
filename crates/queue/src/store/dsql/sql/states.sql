-- What the items are, and whether the caller is still the owner: at least one row.
-- $1 $2 $3 as owned.sql   $4 ids
SELECT asked.owned, found.id, found.is_leased, found.is_scheduled
  FROM (SELECT {owned} AS owned) AS asked
  LEFT JOIN (SELECT item.id, item.is_leased, item.enqueue_at IS NOT NULL AS is_scheduled
               FROM leasehold_items AS item WHERE {here} AND item.id = ANY ($4::text[])) AS found ON true
