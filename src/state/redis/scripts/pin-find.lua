-- The pin of a session, its time refreshed.
-- KEYS 1 pin
-- ARGV 1 time to live in ms
-- Reply {'pin', value} | {'none'}
local value = redis.pcall('GET', KEYS[1])
if type(value) ~= 'string' or not string.match(value, '^%d+|%d+|[^|]+|') then
  return { 'none' }
end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return { 'pin', value }
