-- Forgets a session; tells the other gateways.
-- KEYS 1 pin
-- ARGV 1 channel, 2 message
-- Reply {'dropped'} | {'none'}
local gone = redis.call('DEL', KEYS[1])
redis.call('PUBLISH', ARGV[1], ARGV[2])
return { gone == 1 and 'dropped' or 'none' }
