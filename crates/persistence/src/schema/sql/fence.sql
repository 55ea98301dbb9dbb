-- Makes the range part of a key, so that a fence can lock it alone. Beside owners that go on writing.
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS shards_fence ON shards (shard_id, range_id)
