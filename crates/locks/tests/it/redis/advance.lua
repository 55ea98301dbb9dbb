-- Time passes for every entry under a prefix, at once.
-- KEYS  any key of the slot   ARGV  prefix with its colon   ms
for _, name in ipairs(redis.call('KEYS', ARGV[1] .. '*')) do
    local left = redis.call('PTTL', name)
    if left >= 0 then
        left = left - ARGV[2]
        local entry = redis.call('GET', name)
        local decoded, lock = pcall(cjson.decode, entry)
        if left <= 0 then
            redis.call('DEL', name)
        elseif decoded and type(lock) == 'table' then
            lock.expiresAtMs = lock.expiresAtMs - ARGV[2]
            lock.acquiredAtMs = lock.acquiredAtMs - ARGV[2]
            redis.call('SET', name, cjson.encode(lock), 'PX', left)
        else
            redis.call('PEXPIRE', name, left)
        end
    end
end
return 1
