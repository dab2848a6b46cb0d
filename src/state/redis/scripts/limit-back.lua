-- Gives back one to each of some rates, as far as they are not whole by now.
-- KEYS 1… when a rate is whole again, in ms
-- ARGV 1… for each, the time of one, in ms
-- Reply {'done'}
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
for i = 1, #KEYS do
  local kept = redis.pcall('GET', KEYS[i])
  local full = type(kept) == 'string' and tonumber(kept) or 0
  local whole = full - tonumber(ARGV[i])
  if whole > now then
    redis.call('SET', KEYS[i], string.format('%.3f', whole), 'PX', string.format('%d', math.ceil(whole - now) + 1))
  elseif full > 0 then
    redis.call('DEL', KEYS[i])
  end
end
return { 'done' }
