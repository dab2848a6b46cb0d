-- The words about bans that came after a place in the order of changes; all of them where the count began anew.
-- KEYS 1 words (hash), 2 order of changes (zset), 3 count and epoch (hash)
-- ARGV 1 epoch known, 2 place known, 3 most words
-- Reply {'bans', epoch, '1' where it began anew, place reached, '1' where there are more, time of Redis in ms, exit and site, value, …}
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local epoch = redis.call('HGET', KEYS[3], 'epoch') or ''
local last = tonumber(redis.call('HGET', KEYS[3], 'seq')) or 0
local from, most = tonumber(ARGV[2]), tonumber(ARGV[3])
local is_anew = epoch ~= ARGV[1] or last < from
if is_anew then
  from = 0
end
local found = redis.call('ZRANGEBYSCORE', KEYS[2], '(' .. string.format('%d', from), '+inf', 'WITHSCORES', 'LIMIT', 0, most)
local has_more = #found == most * 2
local place = has_more and found[#found] or string.format('%d', last)
local reply = { 'bans', epoch, is_anew and '1' or '0', place, has_more and '1' or '0', string.format('%d', now) }
for i = 1, #found, 2 do
  local value = redis.call('HGET', KEYS[1], found[i])
  if value then
    reply[#reply + 1] = found[i]
    reply[#reply + 1] = value
  end
end
return reply
