/** Maps that are bounded by forgetting: what was set first, or touched longest ago, goes. */

/** Removes the entry that comes first. @returns its key; undefined where the map was empty */
export function dropEldest<Key>(map: Map<Key, unknown>): Key | undefined {
  const [eldest] = map.keys();
  if (eldest !== undefined) map.delete(eldest);
  return eldest;
}

/** The value of this key, which now comes last; made where there is none, for which the eldest of `most` goes. */
export function touched<Key, Value>(map: Map<Key, Value>, key: Key, most: number, make: () => Value): Value {
  const value = map.get(key) ?? make();
  if (!map.delete(key) && map.size >= most) dropEldest(map);
  map.set(key, value);
  return value;
}
