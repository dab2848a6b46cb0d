-- Ends a turn, and lets it rest. One that ran out meanwhile rests all the same, unless another has it by now.
-- KEYS 1 turn
-- ARGV 1 name of the turn, 2 rest in ms
-- Reply {'ended'} | {'lost'}
local held = redis.pcall('GET', KEYS[1])
if held and held ~= ARGV[1] then
  return { 'lost' }
end
if tonumber(ARGV[2]) > 0 then
  redis.call('SET', KEYS[1], 'rest', 'PX', ARGV[2])
else
  redis.call('DEL', KEYS[1])
end
return { 'ended' }
