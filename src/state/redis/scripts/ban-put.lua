-- Says a word about a ban: the later version holds, and of equal ones the longer (src/facts/ban-order.ts says the same).
-- Repeating it changes nothing. What holds is stored, put at the end of the order of changes, and published.
-- KEYS 1 words (hash), 2 order of changes (zset), 3 ends of remembrance (zset), 4 count and epoch (hash)
-- ARGV 1 exit and site, 2 version, 3 time left in ms, 4 strikes, 5 by, 6 reason, 7 remembered after the end in ms,
--      8 channel, 9 epoch where there is none, 10 most words
-- Reply {'taken'} | {'held', value, time of Redis in ms}
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local version, until_ms, keep = tonumber(ARGV[2]), now + tonumber(ARGV[3]), tonumber(ARGV[7])

local function forget(field)
  redis.call('HDEL', KEYS[1], field)
  redis.call('ZREM', KEYS[2], field)
  redis.call('ZREM', KEYS[3], field)
end

for _, field in ipairs(redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', now, 'LIMIT', 0, 20)) do
  forget(field)
end

local held = redis.call('HGET', KEYS[1], ARGV[1])
if held then
  local held_version, held_until, _, held_by = string.match(held, '^%d+|(%d+)|(%d+)|(%d+)|([^|]*)|')
  held_version, held_until = tonumber(held_version), tonumber(held_until)
  if held_version and held_until and held_until + keep > now then
    local is_newer = version > held_version
    if version == held_version and ARGV[5] ~= held_by then
      is_newer = until_ms > held_until or (until_ms == held_until and ARGV[5] > held_by)
    end
    if not is_newer then
      return { 'held', held, string.format('%d', now) }
    end
  end
end

local tail = '|' .. ARGV[4] .. '|' .. ARGV[5] .. '|' .. ARGV[6]
redis.call('HSETNX', KEYS[4], 'epoch', ARGV[9])
local seq = redis.call('HINCRBY', KEYS[4], 'seq', 1)
redis.call('HSET', KEYS[1], ARGV[1], '1|' .. ARGV[2] .. '|' .. string.format('%d', until_ms) .. tail)
redis.call('ZADD', KEYS[2], seq, ARGV[1])
redis.call('ZADD', KEYS[3], string.format('%d', until_ms + keep), ARGV[1])
while redis.call('HLEN', KEYS[1]) > tonumber(ARGV[10]) do
  local first = redis.call('ZRANGE', KEYS[3], 0, 0)[1]
  if not first then break end
  forget(first)
end

local last = redis.call('ZREVRANGE', KEYS[3], 0, 0, 'WITHSCORES')[2]
local left = string.format('%d', math.max(tonumber(last or now) - now, 1))
for i = 1, 3 do
  redis.call('PEXPIRE', KEYS[i], left)
end
redis.call('PEXPIRE', KEYS[4], string.format('%d', tonumber(left) + 86400000))
redis.call('PUBLISH', ARGV[8], ARGV[1] .. '\n1|' .. ARGV[2] .. '|' .. ARGV[3] .. tail)
return { 'taken' }
