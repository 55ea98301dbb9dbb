-- Hold the key if no live hold exists. Redis does not undo a script that fails, so everything is checked before
-- anything is written.
-- KEYS  lock   index   fence counter
-- ARGV  lock id   ttl   tolerance   key as a JSON text   last fence that may be handed out
-- {1, fence, end}: this lock id holds it    {0, ms}: another does, for so long
-- {-1}: an entry is not ours                {-2}: the counter has run out
-- {-3}: this lock id holds another key
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local held = redis.call('GET', KEYS[1])
if held then
    local decoded, lock = pcall(cjson.decode, held)
    if not decoded or type(lock) ~= 'table' or type(lock.lockId) ~= 'string'
        or type(lock.expiresAtMs) ~= 'number' or type(lock.fence) ~= 'string' then
        return {-1}
    end
    local left = lock.expiresAtMs - now
    if left > -ARGV[3] then
        if lock.lockId == ARGV[1] then
            return {1, lock.fence, lock.expiresAtMs}
        end
        -- A hold past its end is only there if its entry has no ttl; then the tolerance counts.
        return {0, left > 0 and left or left + ARGV[3]}
    end
end

local last = redis.call('GET', KEYS[3])
if last then
    if not string.find(last, '^%d+$') then
        return {-1}
    end
    if tonumber(last) >= tonumber(ARGV[5]) then
        return {-2}
    end
end

-- An index entry that is there already is of an earlier hold of this key, of a hold of another key, or not ours to
-- overwrite. One that stays alone, because this user may write but not count, leads nowhere and goes with its ttl.
if not redis.call('SET', KEYS[2], KEYS[1], 'PX', ARGV[2], 'NX') then
    local other = redis.call('GET', KEYS[2])
    if other ~= KEYS[1] then
        local decoded, lock = pcall(cjson.decode, redis.call('GET', other))
        if not decoded or type(lock) ~= 'table' or type(lock.lockId) ~= 'string'
            or type(lock.expiresAtMs) ~= 'number' then
            return {-1}
        end
        if lock.lockId == ARGV[1] then
            if lock.expiresAtMs > now - ARGV[3] then
                return {-3}
            end
            -- Over, in an entry without a ttl.
            redis.call('DEL', other)
        end
    end
    redis.call('SET', KEYS[2], KEYS[1], 'PX', ARGV[2])
end

local fence = string.format('%015.0f', redis.call('INCR', KEYS[3]))
local ends = now + ARGV[2]
-- Written by hand: cjson would put numbers of more than 14 digits into exponent form, and is slower.
local lock = '{"key":' .. ARGV[4] .. ',"lockId":"' .. ARGV[1] .. '","fence":"' .. fence
    .. '","acquiredAtMs":' .. string.format('%.0f', now) .. ',"expiresAtMs":' .. string.format('%.0f', ends) .. '}'
redis.call('SET', KEYS[1], lock, 'PX', ARGV[2])
return {1, fence, ends}
