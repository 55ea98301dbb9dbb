-- The newest fence that each resource has seen. A row outlives every lock: deleting it would let an old holder in.
CREATE TABLE IF NOT EXISTS leasehold_fence_guard (
    resource text PRIMARY KEY,
    fence bigint NOT NULL
);
