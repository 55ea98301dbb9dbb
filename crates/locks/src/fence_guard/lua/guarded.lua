-- Writes only if no newer fence was seen. The entry that keeps the newest fence must never get a ttl.
-- KEYS: where the newest fence is kept, what is written   ARGV: fence, value   Returns 1 written, 0 refused.
local seen = tonumber(redis.call('GET', KEYS[1]) or '0')
local fence = tonumber(ARGV[1])
if fence < seen then
  return 0
end
redis.call('SET', KEYS[1], string.format('%015d', fence))
redis.call('SET', KEYS[2], ARGV[2])
return 1
