/** The desk of policies. Each change is told to the audit before it is made. */
import type { Random } from '../core/random.js';
import type { JsonObject } from '../storage/credential-ports.js';
import type { PolicyRecords, PolicyRow } from '../storage/ports.js';
import type { Actor, InputProblem } from './actor.js';
import type { Audit } from '../audit/entry.js';
import type { CredentialIndex } from './credential-index.js';
import type { IndexFeed } from './index-feed.js';
import { fallbackFault, ratePercent, WISE_SHARE } from './policy-chain.js';
import type {
  PolicyChanged,
  PolicyCreated,
  PolicyDesk,
  PolicyRemoved,
  PolicySupply,
  PolicyView,
} from './policy-desk.js';
import { readPolicy, type Policy, type PolicyBody } from './policy-document.js';

/** What the desk works with. */
export interface PoliciesParts {
  readonly policies: PolicyRecords;
  readonly index: CredentialIndex;
  readonly feed: IndexFeed;
  readonly audit: Audit;
  readonly random: Random;
}

type Checked =
  | { readonly kind: 'good'; readonly policy: Policy; readonly body: PolicyBody }
  | { readonly kind: 'invalid'; readonly problems: readonly InputProblem[] };

/** The desk. */
export class Policies implements PolicyDesk {
  readonly #parts: PoliciesParts;

  constructor(parts: PoliciesParts) {
    this.#parts = parts;
  }

  async create(body: unknown, by: Actor): Promise<PolicyCreated> {
    const checked = await this.#check(body);
    if (checked.kind === 'invalid') return checked;
    const { policies, random } = this.#parts;
    const { name } = checked.policy;
    await this.#record('policy.create', name, by, { body: documentOf(checked.body) });
    const id = random.hex(16);
    const inserted = await policies.insert({ id, name, document: documentOf(checked.body) });
    await this.#parts.feed.readPolicy(name);
    const policy = this.get(name);
    return inserted === 'exists' || policy === null ? { kind: 'exists' } : { kind: 'created', policy };
  }

  async replace(name: string, body: unknown, by: Actor): Promise<PolicyChanged> {
    const checked = await this.#check(isObject(body) ? { name, ...body } : body);
    if (checked.kind === 'invalid') return checked;
    if (checked.policy.name !== name)
      return { kind: 'invalid', problems: [{ path: 'name', message: 'a policy keeps its name' }] };
    const { policies, feed } = this.#parts;
    if ((await policies.find(name)) === null) return { kind: 'gone' };
    await this.#record('policy.change', name, by, { body: documentOf(checked.body) });
    const row = await policies.replace(name, documentOf(checked.body));
    await feed.putPolicy(name, row);
    const policy = this.get(name);
    return row === null || policy === null ? { kind: 'gone' } : { kind: 'changed', policy };
  }

  async remove(name: string, by: Actor): Promise<PolicyRemoved> {
    const { policies, feed } = this.#parts;
    const all = await policies.all();
    if (!all.some((each) => each.name === name)) return { kind: 'gone' };
    const users = all.filter(({ document }) => document['fallback'] === name).map((each) => each.name);
    if (users.length > 0) return { kind: 'in_use', by: users };
    await this.#record('policy.remove', name, by, {});
    const isRemoved = await policies.remove(name);
    await feed.putPolicy(name, null);
    return { kind: isRemoved ? 'removed' : 'gone' };
  }

  list(): readonly PolicyView[] {
    return [...this.#parts.feed.policies.values()]
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .flatMap((row) => this.#view(row) ?? []);
  }

  get(name: string): PolicyView | null {
    const row = this.#parts.feed.policies.get(name);
    return row === undefined ? null : this.#view(row);
  }

  supplies(): readonly PolicySupply[] {
    const { index } = this.#parts;
    return index.policyNames().flatMap((name) => {
      const policy = index.policy(name);
      if (policy === undefined) return [];
      const { total, usable } = index.supply(name);
      const { minActive } = policy;
      return [{ policy: name, usable, total, minActive, ratePercent: ratePercent(policy, usable) }];
    });
  }

  /** Whether it can be meant, by itself and among the policies that there are now. */
  async #check(body: unknown): Promise<Checked> {
    const read = readPolicy(body);
    if (read.kind === 'invalid') return read;
    const { policy } = read;
    const others = new Map(
      (policy.fallback === null ? [] : await this.#parts.policies.all()).map((row) => [row.name, row]),
    );
    const fault = fallbackFault(policy, (name) => {
      const row = others.get(name);
      const other = row === undefined ? null : readPolicy(row.document);
      return other?.kind === 'policy' ? other.policy : undefined;
    });
    return fault === null
      ? { kind: 'good', policy, body: read.body }
      : { kind: 'invalid', problems: [{ path: 'fallback', message: fault }] };
  }

  #record(action: string, policy: string, by: Actor, detail: JsonObject): Promise<void> {
    const { name: actor, address } = by;
    return this.#parts.audit.record({ action, actor, address, policy, outcome: 'ok', detail });
  }

  #view({ document, ...row }: PolicyRow): PolicyView | null {
    const read = readPolicy(document);
    if (read.kind !== 'policy') return null;
    const supply = this.#parts.index.supply(row.name);
    return { ...row, body: read.body, ...supply, warnings: warningsOf(read.policy, supply) };
  }
}

function warningsOf(policy: Policy, { total, usable }: { total: number; usable: number }): string[] {
  const warnings: string[] = [];
  const percent = ratePercent(policy, usable);
  if (total === 0) warnings.push('no credential matches it');
  if (percent !== null && percent > WISE_SHARE) {
    const share = `its rate is ${percent} % of what the limits of its ${usable} usable credentials add up to`;
    warnings.push(`${share}: above ${WISE_SHARE} % they reach their limits all at once`);
  }
  return warnings;
}

const documentOf = (body: PolicyBody): JsonObject => body as unknown as JsonObject;

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
