-- The entry of a key, with the time at which it was read.
-- KEYS  lock
-- {entry or nil, seconds, microseconds}
local time = redis.call('TIME')
return {redis.call('GET', KEYS[1]), time[1], time[2]}
