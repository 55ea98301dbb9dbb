-- The marked items. No mark outlives its transaction.   $1 queue   $2 partition   $4 ids
DELETE FROM leasehold_items WHERE queue = $1 AND partition = $2 AND id = ANY ($4::text[]) AND is_gone
