/**
 * Everything that can be set: types, defaults, limits and help in one schema. The loader, the example file and
 * the JSON Schema for editors all come from it.
 */
import { z } from 'zod';
import { adminSchema } from './schema-admin.js';
import { alertsSchema } from './schema-alerts.js';
import { auditSchema } from './schema-audit.js';
import { captureSchema, detectionSchema, rulesSchema } from './schema-detection.js';
import { clientsSchema, listenSchema, targetsSchema } from './schema-listen.js';
import { poolsSchema } from './schema-pools.js';
import { routesSchema, sessionsSchema } from './schema-routes.js';
import {
  bansSchema,
  dataDirSchema,
  feedbackSchema,
  guardSchema,
  limitsSchema,
  logSchema,
  retrySchema,
  timeoutsSchema,
  tunnelsSchema,
} from './schema-rules.js';
import { clusterSchema } from './schema-sharing.js';
import { stateSchema } from './schema-state.js';
import { storageSchema } from './schema-storage.js';
import { vaultSchema } from './schema-vault.js';

/** The whole file. */
export const configSchema = z
  .strictObject(
    {
      listen: listenSchema,
      admin: adminSchema,
      targets: targetsSchema,
      clients: clientsSchema,
      pools: poolsSchema,
      routes: routesSchema,
      sessions: sessionsSchema,
      timeouts: timeoutsSchema,
      limits: limitsSchema,
      bans: bansSchema,
      guard: guardSchema,
      feedback: feedbackSchema,
      tunnels: tunnelsSchema,
      retry: retrySchema,
      rules: rulesSchema,
      detection: detectionSchema,
      capture: captureSchema,
      log: logSchema,
      state: stateSchema,
      cluster: clusterSchema,
      audit: auditSchema,
      alerts: alertsSchema,
      storage: storageSchema,
      vault: vaultSchema,
      data_dir: dataDirSchema,
    },
    { error: 'expected settings by name' },
  )
  .describe('Settings of the Turnpike gateway.');

/** What the schema makes of a file: defaults filled in, durations in milliseconds, sizes in bytes, secrets unresolved. */
export type Settings = z.output<typeof configSchema>;
