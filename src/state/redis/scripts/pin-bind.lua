-- Sets the first pin of a session; when there is one, that one holds and its time is refreshed.
-- KEYS 1 pin
-- ARGV 1 value, 2 time to live in ms
-- Reply {'bound'} | {'held', value}
local held = redis.pcall('GET', KEYS[1])
if type(held) == 'string' and #held <= 2200 and string.match(held, '^1|[1-9]%d?%d?%d?%d?%d?%d?%d?%d?|[%w_.:@-]+|[%w_-]*$') then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  return { 'held', held }
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return { 'bound' }
