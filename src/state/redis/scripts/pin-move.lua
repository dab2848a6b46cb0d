-- Moves a session to another exit, if it is still where the caller saw it, or nowhere; tells the other gateways.
-- KEYS 1 pin
-- ARGV 1 generation seen, 2 exit seen, 3 new value, 4 time to live in ms, 5 channel, 6 message
-- Reply {'moved'} | {'held', value}
local held = redis.pcall('GET', KEYS[1])
if type(held) == 'string' and #held <= 2200 then
  local generation, exit = string.match(held, '^1|([1-9]%d?%d?%d?%d?%d?%d?%d?%d?)|([%w_.:@-]+)|[%w_-]*$')
  if generation and (generation ~= ARGV[1] or exit ~= ARGV[2]) then
    redis.call('PEXPIRE', KEYS[1], ARGV[4])
    return { 'held', held }
  end
end
redis.call('SET', KEYS[1], ARGV[3], 'PX', ARGV[4])
redis.call('PUBLISH', ARGV[5], ARGV[6])
return { 'moved' }
