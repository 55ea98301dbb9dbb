-- What a build that was killed left behind serves nobody.
DROP INDEX CONCURRENTLY IF EXISTS shards_fence
