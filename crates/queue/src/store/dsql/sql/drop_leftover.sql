-- As drop_owner.sql, if nobody has taken the partition over since.   $1 queue   $2 partition   $3 epoch
UPDATE leasehold_partitions SET epoch = epoch + 1, owner = '', taken_at = now()
 WHERE queue = $1 AND partition = $2 AND epoch = $3
RETURNING epoch
