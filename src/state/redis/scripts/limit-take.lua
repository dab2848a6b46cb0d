-- Takes up to so many from a rate (GCRA; src/facts/limit.ts does the same arithmetic).
-- KEYS 1 when the rate is whole again, in ms
-- ARGV 1 count, 2 in so many ms, 3 burst, 4 wanted
-- Reply {'taken', granted} | {'limited', wait in ms}
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local step = tonumber(ARGV[2]) / tonumber(ARGV[1])
local burst, wanted = tonumber(ARGV[3]), tonumber(ARGV[4])
local kept = redis.pcall('GET', KEYS[1])
local full = type(kept) == 'string' and tonumber(kept) or 0
-- Never further ahead than a whole burst, so that a wrong number blocks nobody for long. NaN is not less than itself.
if full ~= full then
  full = 0
end
local base = math.min(math.max(full, now), now + burst * step)
local room = now + burst * step - base
local granted = math.max(0, math.min(wanted, math.floor((room + 0.001) / step)))
if granted == 0 then
  return { 'limited', math.ceil(math.max(step - room, 1)) }
end
local whole = base + granted * step
redis.call('SET', KEYS[1], string.format('%.3f', whole), 'PX', string.format('%d', math.ceil(whole - now) + 1))
return { 'taken', granted }
