-- Gives leases back, each only if it is still held under its fence and epoch. A lease whose fence its holder never
-- heard of (the answer was lost) is found by its name alone, which nobody can guess.
-- KEYS 1 count and epoch (hash), 2… leases of each one's exit (zset)
-- ARGV for each: epoch or '', lease:fence or lease:
-- Reply {'released', 1 or 0 for each}
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local epoch = redis.call('HGET', KEYS[1], 'epoch')
local reply = { 'released' }
for i = 2, #KEYS do
  local known, member = ARGV[2 * i - 3], ARGV[2 * i - 2]
  if known == '' then
    for _, held in ipairs(redis.call('ZRANGE', KEYS[i], 0, -1)) do
      if string.sub(held, 1, #member) == member then
        known, member = epoch, held
      end
    end
  end
  local score = redis.call('ZSCORE', KEYS[i], member)
  reply[i] = 0
  if epoch == known and score then
    redis.call('ZREM', KEYS[i], member)
    reply[i] = tonumber(score) > now and 1 or 0
  end
end
return reply
