-- Makes leases last longer, each only if it is still held under its fence and epoch.
-- KEYS 1 count and epoch (hash), 2… leases of each one's exit (zset)
-- ARGV 1 time to live in ms, 2 remembered after the end in ms, then for each: epoch, lease:fence
-- Reply {'renewed', 1 or 0 for each}
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local epoch = redis.call('HGET', KEYS[1], 'epoch')
local ends = string.format('%d', now + tonumber(ARGV[1]))
local reply = { 'renewed' }
for i = 2, #KEYS do
  local known, member = ARGV[2 * i - 1], ARGV[2 * i]
  local score = redis.call('ZSCORE', KEYS[i], member)
  if epoch == known and score and tonumber(score) > now then
    redis.call('ZADD', KEYS[i], ends, member)
    local last = redis.call('ZREVRANGE', KEYS[i], 0, 0, 'WITHSCORES')[2]
    redis.call('PEXPIRE', KEYS[i], string.format('%d', math.max(tonumber(last) - now, 1) + tonumber(ARGV[2])))
    reply[i] = 1
  else
    reply[i] = 0
  end
end
return reply
