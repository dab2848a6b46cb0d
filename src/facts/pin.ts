/** The key of a session's pin: a session is a name inside one client, so that clients never meet. */

/**
 * The key under which a pin is kept. Unambiguous for any two texts: the client's length comes first.
 * @param client name of the client
 * @param session the session id as the client gave it
 */
export function pinKey(client: string, session: string): string {
  return `${client.length}:${client}:${session}`;
}

/** Client and session of a key that {@link pinKey} made; null for any other text. */
export function parsePinKey(key: string): { readonly client: string; readonly session: string } | null {
  const match = /^(\d{1,4}):/.exec(key);
  if (match === null) return null;
  const start = match[0].length;
  const end = start + Number(match[1]);
  if (key.charAt(end) !== ':' || end >= key.length) return null;
  return { client: key.slice(start, end), session: key.slice(end + 1) };
}
