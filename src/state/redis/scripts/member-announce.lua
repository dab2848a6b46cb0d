-- Tells that a gateway is alive, and lists all that are; without an id only lists.
-- KEYS 1 what each says of itself (hash), 2 until when each counts (zset)
-- ARGV 1 id or '', 2 value, 3 time to live in ms, 4 most members
-- Reply {'members', id, value, …}
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for _, id in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', now)) do
  redis.call('HDEL', KEYS[1], id)
  redis.call('ZREM', KEYS[2], id)
end
if ARGV[1] ~= '' then
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
  redis.call('ZADD', KEYS[2], string.format('%d', now + tonumber(ARGV[3])), ARGV[1])
  while redis.call('ZCARD', KEYS[2]) > tonumber(ARGV[4]) do
    local first = redis.call('ZRANGE', KEYS[2], 0, 0)[1]
    redis.call('HDEL', KEYS[1], first)
    redis.call('ZREM', KEYS[2], first)
  end
  local last = redis.call('ZREVRANGE', KEYS[2], 0, 0, 'WITHSCORES')[2]
  local left = string.format('%d', math.max(tonumber(last) - now, 1))
  redis.call('PEXPIRE', KEYS[1], left)
  redis.call('PEXPIRE', KEYS[2], left)
end
local reply = { 'members' }
for _, id in ipairs(redis.call('ZRANGE', KEYS[2], 0, -1)) do
  reply[#reply + 1] = id
  reply[#reply + 1] = redis.call('HGET', KEYS[1], id) or ''
end
return reply
