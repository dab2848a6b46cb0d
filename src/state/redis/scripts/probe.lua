-- Whether this node takes writes: a replica, or one that is full or can't save, answers PING as if all were well.
-- KEYS 1 any
-- Reply {'fine'}
redis.call('SET', KEYS[1], '1', 'PX', 10000)
return { 'fine' }
