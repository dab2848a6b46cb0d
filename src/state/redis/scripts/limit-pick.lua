-- Takes one from a rate in common and one from that of the first candidate that has any left, or nothing (GCRA;
-- src/facts/limit.ts does the same arithmetic).
-- KEYS 1 when the rate in common is whole again, in ms, 2… the same of each candidate
-- ARGV 1 count in common (0: no such rate), 2 in so many ms, 3 burst; 4, 5, 6 the same of each candidate
-- Reply {'picked', index of the candidate from 0, wait of each before it in ms …} | {'group', wait in ms} |
--       {'candidates', wait of each in ms …}
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000

-- When the rate would be whole again after one more; or nothing, and the wait.
local function one(key, first)
  local step = tonumber(ARGV[first + 1]) / tonumber(ARGV[first])
  local burst = tonumber(ARGV[first + 2])
  local kept = redis.pcall('GET', key)
  local full = type(kept) == 'string' and tonumber(kept) or 0
  -- Never further ahead than a whole burst, so that a wrong number blocks nobody for long. NaN is not less than itself.
  if full ~= full then
    full = 0
  end
  local base = math.min(math.max(full, now), now + burst * step)
  local room = now + burst * step - base
  if room + 0.001 < step then
    return nil, math.ceil(math.max(step - room, 1))
  end
  return base + step, 0
end

local function keep(key, whole)
  redis.call('SET', key, string.format('%.3f', whole), 'PX', string.format('%d', math.ceil(whole - now) + 1))
end

local common
if tonumber(ARGV[1]) > 0 then
  local wait
  common, wait = one(KEYS[1], 1)
  if common == nil then
    return { 'group', wait }
  end
end
local waits = {}
for i = 2, #KEYS do
  local own, wait = nil, 0
  if tonumber(ARGV[4]) > 0 then
    own, wait = one(KEYS[i], 4)
  end
  if wait == 0 then
    if common ~= nil then
      keep(KEYS[1], common)
    end
    if own ~= nil then
      keep(KEYS[i], own)
    end
    return { 'picked', i - 2, unpack(waits) }
  end
  waits[#waits + 1] = wait
end
return { 'candidates', unpack(waits) }
