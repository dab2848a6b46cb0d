/** `/events`: everything that happens, as it happens (server-sent events). */
import { z } from 'zod';
import type { TurnpikeEvent } from '../../core/events.js';
import { Problem } from '../problem.js';
import { route, type ApiRoute } from '../route.js';
import type { AdminServices } from '../services.js';

/** A record, so that an event without a row here does not compile. */
const known: Readonly<Record<TurnpikeEvent['type'], true>> = {
  exchange_ended: true,
  attempt_ended: true,
  exit_banned: true,
  credential_banned: true,
  ban_spared: true,
  site_guarded: true,
  feedback_given: true,
  rule_matched: true,
  body_not_inspected: true,
  pool_changed: true,
  session_pinned: true,
  client_connected: true,
  client_disconnected: true,
  connection_refused: true,
  upstream_connection: true,
  config_reloaded: true,
  pool_loaded: true,
  list_fetched: true,
  vault_changed: true,
  key_changed: true,
  key_worn: true,
  credential_status_changed: true,
  token_used: true,
  token_leaked: true,
  audit_sink_turned: true,
  audit_refused: true,
  audit_anchored: true,
  audit_disk_turned: true,
  alert_raised: true,
  webhook_tried: true,
  note: true,
};
const eventTypes = Object.keys(known);

const query = z.strictObject({
  types: z
    .string()
    .max(500)
    .optional()
    .describe(`Types that are wanted, with commas between; all without it: ${eventTypes.join(', ')}.`),
});

function wantedTypes(types: string | undefined): ReadonlySet<string> | null {
  if (types === undefined) return null;
  const wanted = types.split(',').map((type) => type.trim());
  if (!wanted.every((type) => eventTypes.includes(type)))
    throw new Problem('malformed', `types: expected some of ${eventTypes.join(', ')}.`);
  return new Set(wanted);
}

/** The routes. */
export function eventRoutes({ feed }: AdminServices): ApiRoute[] {
  return [
    route({
      method: 'GET',
      path: '/api/v1/events',
      summary: 'Events as they happen (text/event-stream). Who does not read is dropped.',
      query,
      handle: ({ query: { types }, request, reply }) => {
        const wanted = wantedTypes(types);
        if (request.method === 'HEAD') return reply.type('text/event-stream').send();
        if (feed.isFull) throw new Problem('busy', 'Too many listen to events already.');
        const { raw } = reply;
        reply.hijack();
        const head = { ...reply.getHeaders(), 'content-type': 'text/event-stream' };
        raw.writeHead(200, head as Record<string, string>);
        const end = feed.listen(
          {
            write: (text) => raw.write(text),
            whenFree: (call) => void raw.once('drain', call),
            destroy: () => void raw.destroy(),
          },
          wanted,
        );
        raw.once('close', end);
        return reply;
      },
    }),
  ];
}
