/** The admin listener with its API and tokens, made of the parts of the gateway. */
import { createAdminServer, type AdminServer, type Readiness } from '../admin/server.js';
import { TokenBook } from '../admin/tokens.js';
import type { EventFeed } from '../admin/event-feed.js';
import type { Config } from '../config/config.js';
import { formatAddress } from '../config/units.js';
import type { BanDesk } from '../exits/ban-desk.js';
import type { ExitDesk } from '../exits/exit-desk.js';
import type { ListenAt } from '../gateway/listener.js';
import type { GatewayServices } from '../gateway/services.js';
import type { Metrics } from '../telemetry/metrics.js';
import { adminServices } from './admin-services.js';
import { adminTokens } from './admin-tokens.js';

/** What the listener shows. */
export interface DoorParts {
  readonly services: GatewayServices;
  readonly exits: ExitDesk;
  readonly bans: BanDesk;
  readonly feed: EventFeed;
  readonly metrics: Metrics;
  readonly version: string;
  phase(): Readiness['phase'];
  exchangesOpen(): number;
  proxyDoors(): readonly ListenAt[];
}

/** The listener, and the file that holds its token where none is configured. */
export interface AdminDoor {
  readonly server: AdminServer;
  readonly tokenFile: string | null;
}

/** Makes it; nothing listens yet. */
export function makeAdminDoor(config: Config, parts: DoorParts): AdminDoor {
  const { services, version } = parts;
  const { tokens, file } = adminTokens(config, services.random, services.emit);
  const beganMs = services.clock.nowMs();
  const server = createAdminServer(
    {
      metrics: parts.metrics,
      metricsFor: config.adminApi.metrics,
      hosts: config.adminHosts,
      readiness: () => ({ phase: parts.phase(), state: 'memory' }),
      api: {
        tokens: new TokenBook(tokens),
        services: adminServices({
          ...{ services, exits: parts.exits, bans: parts.bans, feed: parts.feed },
          status: () => ({
            ...{ version, gatewayId: services.gatewayId, phase: parts.phase(), state: 'memory' },
            uptimeMs: Math.round(services.clock.nowMs() - beganMs),
            proxy: parts.proxyDoors().map(formatAddress),
            exchangesOpen: parts.exchangesOpen(),
            tunnelsOpen: services.relays.size,
          }),
        }),
      },
    },
    { tls: config.adminApi.tls },
  );
  return { server, tokenFile: file };
}
