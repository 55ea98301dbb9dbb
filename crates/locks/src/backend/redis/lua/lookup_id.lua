-- The entry that the index of a lock id leads to, with the time at which it was read.
-- KEYS  index
-- nil, or {entry or nil, seconds, microseconds, lock}
local lock_key = redis.call('GET', KEYS[1])
if not lock_key then
    return false
end
local time = redis.call('TIME')
return {redis.call('GET', lock_key), time[1], time[2], lock_key}
