-- Gives leases back, each only if it is still held under its fence and epoch. A lease whose fence its holder never
-- heard of (the answer was lost) is found by its name alone, which nobody can guess. Where the exit was used a moment ago
-- the lease is kept with that moment as its end, for whoever comes next.
-- KEYS 1 count and epoch (hash), 2… leases of each one's exit (zset)
-- ARGV 1 remembered after the end in ms, then for each: epoch or '', lease:fence or lease:, ms since its last use
-- Reply {'released', 1 or 0 for each}
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local epoch = redis.call('HGET', KEYS[1], 'epoch')
local keep = tonumber(ARGV[1])
local reply = { 'released' }
for i = 2, #KEYS do
  local known, member, ago = ARGV[3 * i - 4], ARGV[3 * i - 3], tonumber(ARGV[3 * i - 2])
  if known == '' then
    for _, held in ipairs(redis.call('ZRANGE', KEYS[i], 0, -1)) do
      if string.sub(held, 1, #member) == member then
        known, member = epoch, held
      end
    end
  end
  local score = redis.call('ZSCORE', KEYS[i], member)
  reply[i] = 0
  if epoch == known and score and tonumber(score) > now then
    if ago < keep then
      redis.call('ZADD', KEYS[i], string.format('%d', now - ago), member)
      local last = redis.call('ZREVRANGE', KEYS[i], 0, 0, 'WITHSCORES')[2]
      redis.call('PEXPIRE', KEYS[i], string.format('%d', math.max(tonumber(last) - now + keep, 1)))
    else
      redis.call('ZREM', KEYS[i], member)
    end
    reply[i] = 1
  end
end
return reply
