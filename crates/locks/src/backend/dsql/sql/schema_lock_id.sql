CREATE UNIQUE INDEX ASYNC IF NOT EXISTS {lock_id_index} ON {locks} (lock_id)
