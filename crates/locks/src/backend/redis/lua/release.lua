-- End the live hold of a lock id, and tell those who wait for its key.
-- KEYS  index
-- ARGV  lock id   tolerance   channel
-- 1: ended   0: the key is another's   -1: no such hold   -2: it was over already   {-3, lock}: not a lock
local lock_key = redis.call('GET', KEYS[1])
local held = lock_key and redis.call('GET', lock_key)
if not held then
    return -1
end
local decoded, lock = pcall(cjson.decode, held)
if not decoded or type(lock) ~= 'table' or type(lock.lockId) ~= 'string' or type(lock.expiresAtMs) ~= 'number' then
    return {-3, lock_key}
end
if lock.lockId ~= ARGV[1] then
    return 0
end
redis.call('DEL', lock_key, KEYS[1])
local time = redis.call('TIME')
if lock.expiresAtMs <= time[1] * 1000 + math.floor(time[2] / 1000) - ARGV[2] then
    return -2
end
-- Not allowed to publish is no reason to fail: those who wait also ask from time to time.
redis.pcall('PUBLISH', ARGV[3], lock.key)
return 1
