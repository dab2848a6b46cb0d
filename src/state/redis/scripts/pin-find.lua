-- The pin of a session, its time refreshed.
-- KEYS 1 pin
-- ARGV 1 time to live in ms
-- Reply {'pin', value} | {'none'} | {'odd'} where something else stands there
local value = redis.pcall('GET', KEYS[1])
if type(value) ~= 'string' or #value > 2200 or not string.match(value, '^1|[1-9]%d?%d?%d?%d?%d?%d?%d?%d?|[%w_.:@-]+|[%w_-]*$') then
  return { value and 'odd' or 'none' }
end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return { 'pin', value }
