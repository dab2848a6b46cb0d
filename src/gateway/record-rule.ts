/** What the ledger does at the word of a rule: bans as far as the scope says, pauses, freezes. */
import type { Effect } from '../exits/effect.js';
import type { Verdict } from '../outcome/classify.js';
import type { RuleFinding } from '../outcome/finding.js';
import type { Exit } from './pick-exit.js';
import type { GatewayServices } from './services.js';

/** Where and on what the rule fired. */
export interface Fired {
  readonly site: string;
  readonly verdict: Verdict;
  /** Whether the target answered, so that the way is sound. */
  readonly isAnswered: boolean;
}

/** Does what the rule behind a verdict asks for; the weightiest of its actions is what is told. */
export function effectOfRule(services: GatewayServices, exit: Exit, fired: Fired): Effect {
  const { ledger, clock } = services;
  const { verdict, site } = fired;
  const rule = verdict.rule;
  const nowMs = clock.nowMs();
  if (fired.isAnswered) ledger.recordReached(exit.slot, nowMs);
  if (rule === null) return { kind: 'none' };
  if (rule.actions.includes('freeze')) freeze(services, exit, rule);
  if (rule.actions.includes('exhaust')) {
    const forMs = services.rules().runtime.bans.transportCapMs;
    return ledger.ban(exit.slot, null, { reason: verdict.reason, forMs }, nowMs);
  }
  if (rule.scope === 'credential') return effectOnCredential(services, exit, fired);
  if (rule.actions.includes('ban'))
    return ledger.ban(exit.slot, rule.scope === 'exit' ? null : site, { reason: verdict.reason }, nowMs);
  if (!rule.actions.includes('throttle')) return { kind: 'none' };
  return ledger.recordThrottled(exit.slot, site, verdict.retryAfterMs, nowMs);
}

/** Who blames a credential says that the exit is sound: all exits that share its login are set aside for the site. */
function effectOnCredential({ ledger, clock }: GatewayServices, exit: Exit, fired: Fired): Effect {
  const { site, verdict } = fired;
  const nowMs = clock.nowMs();
  if (verdict.rule?.actions.includes('ban') === true)
    return ledger.credentials.ban(exit.upstream, site, { reason: verdict.reason }, nowMs);
  if (verdict.rule?.actions.includes('throttle') === true)
    return ledger.credentials.throttle(exit.upstream, site, verdict.retryAfterMs, nowMs);
  return { kind: 'none' };
}

function freeze({ ledger, emit }: GatewayServices, { slot, upstream }: Exit, { name }: RuleFinding): void {
  if (ledger.orders.of(slot) !== null) return;
  ledger.orders.give(slot, 'frozen');
  const detail = { exit: upstream.id, label: upstream.label, by: `rule ${name}` };
  emit({ type: 'note', level: 'warn', what: 'exit_frozen', detail });
}
