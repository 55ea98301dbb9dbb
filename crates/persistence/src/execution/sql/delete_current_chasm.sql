-- $1 shard_id   $2 namespace_id   $3 business_id   $4 archetype_id   $5 run_id
DELETE FROM current_chasm_executions
WHERE shard_id = $1 AND namespace_id = $2 AND business_id = $3 AND archetype_id = $4 AND run_id = $5
