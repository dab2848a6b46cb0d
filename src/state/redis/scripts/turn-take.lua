-- Takes the turn at something, where nobody has it and the rest after the last one is over. What lasts for ever, or
-- longer than anybody may ask for, is not ours and gives way.
-- KEYS 1 turn
-- ARGV 1 name of the turn, 2 longest time to have it in ms, 3 longest time that anybody may ask for
-- Reply {'taken'} | {'busy', wait in ms} | {'resting', wait in ms}
local held = redis.pcall('GET', KEYS[1])
local left = redis.call('PTTL', KEYS[1])
if type(held) == 'string' and left > 0 and left <= tonumber(ARGV[3]) then
  return { held == 'rest' and 'resting' or 'busy', left }
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return { 'taken' }
