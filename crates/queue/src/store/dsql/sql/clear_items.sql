-- Deletes them.   $1 $2 $3 as owned.sql   $4 to $8 as clear_count.sql
DELETE FROM leasehold_items WHERE queue = $1 AND partition = $2 AND {owned} AND id = ANY (ARRAY ({next_to_clear}))
