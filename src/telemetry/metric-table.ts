/** Every metric of our own: name, type, help, labels. `docs/metrics.md` is checked against this table. */

/** One metric. */
export interface MetricRow {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  /** All from closed sets: configuration (pool, route, site, listener) or tables of the program. Never from requests. */
  readonly labels: readonly string[];
  /** Upper bounds in seconds, for histograms. */
  readonly buckets?: readonly number[];
}

const seconds = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

const counter = (help: string, ...labels: string[]): MetricRow => ({ type: 'counter', help, labels });
const gauge = (help: string, ...labels: string[]): MetricRow => ({ type: 'gauge', help, labels });
const histogram = (help: string, ...labels: string[]): MetricRow => ({
  type: 'histogram',
  help,
  labels,
  buckets: seconds,
});

/** The table. */
export const metricTable = {
  turnpike_exchanges_total: counter(
    'Client requests that are over, by how they ended.',
    'route',
    'pool',
    'kind',
    'status',
    'end',
  ),
  turnpike_exchange_methods_total: counter('Client requests that are over, by method.', 'method'),
  turnpike_errors_total: counter('Errors that the gateway itself answered.', 'code', 'blame'),
  turnpike_verdicts_total: counter(
    'What the last attempt of an exchange proved; sites that no route names are other.',
    'site',
    'verdict',
  ),
  turnpike_exchange_duration_seconds: histogram(
    'From the head of a request to the end of its answer or tunnel.',
    'route',
    'kind',
  ),
  turnpike_first_byte_seconds: histogram(
    'From the head of a request to the first byte of its answer.',
    'route',
  ),
  turnpike_upstream_open_seconds: histogram(
    'Dial, TLS and handshake of the last attempt, where a connection was made.',
    'pool',
  ),
  turnpike_client_received_bytes_total: counter('Bytes of bodies and tunnels from clients.', 'kind'),
  turnpike_client_sent_bytes_total: counter('Bytes of bodies and tunnels to clients.', 'kind'),
  turnpike_attempts_total: counter('Tries through an exit, by what they proved.', 'pool', 'verdict'),
  turnpike_retries_total: counter('Tries that were followed by another.', 'pool'),
  turnpike_bans_total: counter(
    'Exits set aside: for one site, or altogether (scope exit); logins set aside for one site (scope credential).',
    'scope',
    'site',
  ),
  turnpike_bans_spared_total: counter(
    'Bans that were not made, since too much of the pool is out already, or the sign is weak and the exit the last one.',
    'pool',
    'scope',
  ),
  turnpike_bans_lifted_total: counter(
    'Bans that were taken back because the site itself was down, or a rule fired on all of it.',
  ),
  turnpike_feedback_total: counter('What clients said of answers, by what came of it.', 'verdict', 'outcome'),
  turnpike_site_guard_total: counter(
    'Sites that went down or came back, rules that were suspended or resumed.',
    'change',
  ),
  turnpike_sites_guarded: gauge('Sites that are down, or have a rule suspended.', 'state'),
  turnpike_rule_matches_total: counter(
    'Answers and faults that met a rule; shadow rules are only counted.',
    'rule',
    'shadow',
  ),
  turnpike_bodies_not_inspected_total: counter(
    'Bodies that rules wanted to see and that could not be looked at, by reason.',
    'reason',
  ),
  turnpike_pool_changes_total: counter('Sites that went to another pool of their route.', 'route', 'to'),
  turnpike_pool_spent_today: gauge('Spent on a pool since midnight (UTC), by its prices.', 'pool'),
  turnpike_requests_waiting: gauge('Requests that wait for an exit.'),
  turnpike_paced_pairs: gauge('Pairs of exit and site of which pacing remembers something.'),
  turnpike_session_pins_total: counter('Sessions that got an exit, or another one, by reason.', 'reason'),
  turnpike_client_connections_opened_total: counter('Connections of clients that were accepted.', 'listener'),
  turnpike_client_connections_closed_total: counter('Connections of clients that are over.', 'listener'),
  turnpike_client_connections_open: gauge('Connections of clients that are open.', 'listener'),
  turnpike_login_checks_total: counter(
    'Logins that were compared with the hash of a stored client, or were not: right, wrong, limited, busy.',
    'outcome',
  ),
  turnpike_connections_refused_total: counter('Connections that never became a request.', 'reason'),
  turnpike_upstream_connections_total: counter(
    'Connections to upstreams: opened, reused, stale, closed.',
    'event',
  ),
  turnpike_upstream_connections_idle: gauge('Connections to upstreams that are kept for later.'),
  turnpike_exchanges_open: gauge('Requests under way.'),
  turnpike_tunnels_open: gauge('Tunnels that stand.'),
  turnpike_deadlines: gauge('Deadlines that the data plane keeps.'),
  turnpike_exits: gauge('Exits by state.', 'pool', 'state'),
  turnpike_admin_answers_total: counter('Answers of the admin listener, by class of status.', 'status'),
  turnpike_event_listeners: gauge('Programs that listen to events.'),
  turnpike_event_listeners_dropped_total: counter('Listeners to events that were dropped, being too slow.'),
  turnpike_pool_loads_total: counter(
    'Times the exits of a pool were read anew: swapped, or kept because something was wrong.',
    'pool',
    'outcome',
  ),
  turnpike_list_fetches_total: counter(
    'Times a list of upstreams was asked for by its URL: fresh, unchanged or failed.',
    'pool',
    'outcome',
  ),
  turnpike_state_shared: gauge('1 while Redis answers, 0 while this gateway goes on alone.'),
  turnpike_state_gateways: gauge('Gateways of the fleet, this one among them, as last known.'),
  turnpike_state_strangers: gauge(
    'Gateways on the same Redis with another TURNPIKE_CLUSTER_SECRET; above 0, sessions are not shared with them.',
  ),
  turnpike_state_bans_waiting: gauge('Words about bans that wait until Redis can be told.'),
  turnpike_state_events_total: counter(
    'What came of Redis: calls, timeouts, refusals, ignored values, outages.',
    'event',
  ),
  turnpike_leases_held: gauge('Exits that this gateway has leased.'),
  turnpike_leases_total: counter(
    'Leases: taken, reused by a request, released, lost, overlaps (another may have used the exit at the same time).',
    'event',
  ),
  turnpike_turns_total: counter(
    'Exits that rest, trials and canaries that other gateways were asked about: taken, refused, alone (nobody could be asked).',
    'event',
  ),
  turnpike_sharing_alone: gauge(
    '1 while this gateway keeps to its own part of shared pools, since Redis is away.',
  ),
  turnpike_exits_own: gauge('Exits of a shared pool that are this gateway’s.', 'pool'),
  turnpike_state_bans_total: counter('Words about bans: applied from others, said, dropped.', 'event'),
  turnpike_vault_open: gauge('1 while the vault is open, 0 while it is sealed.'),
  turnpike_vault_keys: gauge('Keys of the vault, by state.', 'state'),
  turnpike_vault_key_wraps: gauge(
    'How many keys the key that seals has wrapped; an alarm is raised at 2^28.',
  ),
  turnpike_vault_records_left: gauge('Records that are still under an older key, as last counted.'),
  turnpike_vault_records_broken: gauge('Records that did not open when they were to go to a new key.'),
  turnpike_credentials: gauge('Credentials by what holds now.', 'status'),
  turnpike_credential_changes_total: counter(
    'Credentials that became something else, by what and whose word it was.',
    'status',
    'by',
  ),
  turnpike_tokens_total: counter('What was done with tokens, or refused.', 'event'),
  turnpike_policy_tokens_total: counter('Tokens of a policy: acquired or refused.', 'policy', 'event'),
  turnpike_policy_credentials: gauge('Credentials that the filters of a policy let through.', 'policy'),
  turnpike_policy_usable: gauge('Those of them that may be used now.', 'policy'),
  turnpike_alerts_total: counter('Alerts that were raised, by kind.', 'kind'),
  turnpike_webhooks_total: counter(
    'Tries to tell webhooks of alerts: delivered, retried, failed (given up), dropped (too many waited).',
    'outcome',
  ),
  turnpike_audit_records_total: counter('Records of the audit that a sink confirmed.'),
  turnpike_audit_refused_total: counter(
    'Records that no sink took in time, so that what needed them was refused, by reason.',
    'reason',
  ),
  turnpike_audit_sink_working: gauge('1 while this sink of the audit takes records.', 'sink'),
  turnpike_audit_sink_failures_total: counter('Failed writes to this sink of the audit.', 'sink'),
  turnpike_audit_sink_behind: gauge('Records that this sink has not taken yet.', 'sink'),
  turnpike_captures_failed_total: counter('Judged answers that could not be stored (capture.dir).'),
  turnpike_log_lines_dropped_total: counter('Log lines lost because they could not be written.'),
  turnpike_config_reloads_total: counter('New configurations, by what came of them.', 'outcome'),
  turnpike_notes_total: counter('Notes of the gateway about itself, by level.', 'level'),
  turnpike_build_info: gauge('1, with the version as label.', 'version', 'node'),
} as const satisfies Record<string, MetricRow>;

/** The name of a metric. */
export type MetricName = keyof typeof metricTable;
