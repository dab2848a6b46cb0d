-- Takes a gateway off the list.
-- KEYS 1 what each says of itself (hash), 2 until when each counts (zset)
-- ARGV 1 id
-- Reply {'left'}
redis.call('HDEL', KEYS[1], ARGV[1])
redis.call('ZREM', KEYS[2], ARGV[1])
return { 'left' }
