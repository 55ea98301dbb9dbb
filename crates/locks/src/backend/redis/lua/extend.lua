-- Make the live hold of a lock id end ttl from now. All other fields stay as they are, also those of other writers.
-- KEYS  index
-- ARGV  lock id   tolerance   ttl
-- {1, end}: extended   0: the key is another's   -1: no such hold   -2: it is over   {-3, lock}: not a lock
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
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if lock.expiresAtMs <= now - ARGV[2] then
    redis.call('DEL', lock_key, KEYS[1])
    return -2
end
lock.expiresAtMs = now + ARGV[3]
redis.call('SET', lock_key, cjson.encode(lock), 'PX', ARGV[3])
redis.call('SET', KEYS[1], lock_key, 'PX', ARGV[3])
return {1, lock.expiresAtMs}
