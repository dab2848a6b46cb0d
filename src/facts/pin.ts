/** The key of a session's pin: a session is a name inside one client, so that clients never meet. */

/**
 * The key under which a pin is kept. Unambiguous for any two texts: the client's length comes first.
 * @param client name of the client
 * @param session the session id as the client gave it
 */
export function pinKey(client: string, session: string): string {
  return `${client.length}:${client}:${session}`;
}
