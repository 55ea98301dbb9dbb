-- Remove a hold that is long over, if it still is the one that was seen. The fence counter stays for ever.
-- KEYS  lock   index
-- ARGV  lock id   how long it must be over
local held = redis.call('GET', KEYS[1])
local decoded, lock = pcall(cjson.decode, held)
if not decoded or type(lock) ~= 'table' or lock.lockId ~= ARGV[1] or type(lock.expiresAtMs) ~= 'number' then
    return 0
end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if now - lock.expiresAtMs <= tonumber(ARGV[2]) then
    return 0
end
if redis.call('GET', KEYS[2]) == KEYS[1] then
    redis.call('DEL', KEYS[2])
end
redis.call('DEL', KEYS[1])
return 1
