-- Leases the first of some exits that has a slot free. A lease that has ended is remembered for a while, with the time of
-- the last use as its end, so that whoever comes next knows how long the exit must rest.
-- KEYS 1 count and epoch (hash), 2… leases of each candidate (zset of lease:fence by end)
-- ARGV 1 lease, 2 time to live in ms, 3 slots, 4 epoch where there is none, 5 channel to say on that all are taken
--      or '', 6 what to say, 7 remembered after the end in ms
-- Reply {'leased', index of the candidate from 0, fence, epoch, ms since another may have used it, or -1} | {'none'}
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local keep = tonumber(ARGV[7])
for i = 2, #KEYS do
  redis.call('ZREMRANGEBYSCORE', KEYS[i], '-inf', string.format('%d', now - keep))
  local ended = redis.call('ZRANGEBYSCORE', KEYS[i], '-inf', string.format('%d', now), 'WITHSCORES')
  if redis.call('ZCARD', KEYS[i]) - #ended / 2 < tonumber(ARGV[3]) then
    redis.call('HSETNX', KEYS[1], 'epoch', ARGV[4])
    local fence = redis.call('HINCRBY', KEYS[1], 'fence', 1)
    -- The count outlives every lease by far; when it goes after all, its epoch goes with it.
    redis.call('PEXPIRE', KEYS[1], 30 * 86400000)
    redis.call('ZADD', KEYS[i], string.format('%d', now + tonumber(ARGV[2])), ARGV[1] .. ':' .. fence)
    local last = redis.call('ZREVRANGE', KEYS[i], 0, 0, 'WITHSCORES')[2]
    redis.call('PEXPIRE', KEYS[i], string.format('%d', math.max(tonumber(last) - now, 1) + keep))
    local ago = #ended > 0 and math.max(0, now - tonumber(ended[#ended])) or -1
    return { 'leased', i - 2, fence, redis.call('HGET', KEYS[1], 'epoch'), ago }
  end
end
if ARGV[5] ~= '' then
  redis.call('PUBLISH', ARGV[5], ARGV[6])
end
return { 'none' }
