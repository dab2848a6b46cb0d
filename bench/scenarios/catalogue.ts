/**
 * All scenarios, in the order in which they run.
 */
import type { Scenario } from '../support/scenario.js';
import { bulk } from './bulk.js';
import { forward1k } from './forward-1k.js';
import { forward64k } from './forward-64k.js';
import { forward64kHtml } from './forward-64k-html.js';
import { forwardFresh } from './forward-fresh.js';
import { idle } from './idle.js';
import { latency } from './latency.js';
import { tunnel } from './tunnel.js';

export const SCENARIOS: readonly Scenario[] = [
  forward1k,
  forwardFresh,
  forward64k,
  forward64kHtml,
  tunnel,
  bulk,
  latency,
  idle,
];

/** The scenarios a user named, by name or group; all when none is named. Throws on a name nobody has. */
export function chooseScenarios(names: readonly string[]): readonly Scenario[] {
  const isNamed = (scenario: Scenario, name: string): boolean =>
    scenario.name === name || scenario.group === name;
  for (const name of names) {
    if (!SCENARIOS.some((scenario) => isNamed(scenario, name))) {
      const known = SCENARIOS.map((scenario) => scenario.name).join(', ');
      throw new Error(`no scenario "${name}"; there are ${known}, and the group "forward"`);
    }
  }
  if (names.length === 0) return SCENARIOS;
  return SCENARIOS.filter((scenario) => names.some((name) => isNamed(scenario, name)));
}
