CREATE UNIQUE INDEX IF NOT EXISTS {lock_id_index} ON {locks} (lock_id)
