-- How many of the items are leased.   $1 queue   $2 partition   $4 ids
SELECT 1::bigint AS owned, count(*) AS held FROM leasehold_items AS item WHERE {held}
