/** The description of the API, as programs get it: checked by a linter that nobody here wrote. */
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { describe, expect, it } from 'vitest';
import { problemTable } from '../../src/admin/problem-codes.js';
import { routeNeeds } from '../../src/admin/scopes.js';
import { adminSection, askAdmin } from '../support/admin.js';
import { createStage } from '../support/stage.js';

const stage = createStage();

interface Operation {
  readonly operationId: string;
  readonly security: readonly object[];
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, unknown>> }>>;
}

async function description(): Promise<{ text: string; operations: Map<string, Operation> }> {
  const { adminPort } = await stage.gateway([], { admin: adminSection });
  const { text, body } = await askAdmin(adminPort, '/api/v1/openapi.json');
  const paths = Object.entries(body.paths as Record<string, Record<string, Operation>>);
  const operations = paths.flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]): [string, Operation] => [
      `${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ':$1')}`,
      operation,
    ]),
  );
  return { text, operations: new Map(operations) };
}

describe('K17 openapi.json', () => {
  it('is in order, as a linter sees it', async () => {
    const { text } = await description();
    const config = await createConfig({ extends: ['recommended'] });
    const problems = await lintFromString({ source: text, config });
    expect(
      problems.map(({ severity, ruleId, message, location }) => [
        severity,
        ruleId,
        message,
        location[0]?.pointer,
      ]),
    ).toEqual([]);
  });

  it('has every route of the table, and no other', async () => {
    const { operations } = await description();
    expect([...operations.keys()].sort()).toEqual(Object.keys(routeNeeds).sort());
    const ids = [...operations.values()].map(({ operationId }) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('says what each route wants, and how it fails', async () => {
    const { operations } = await description();
    const statuses = new Set(Object.values(problemTable).map(({ status }) => String(status)));
    for (const [name, { security, responses }] of operations) {
      const isOpen = ['open', 'metrics'].includes(routeNeeds[name] ?? '');
      expect(security, name).toEqual(isOpen ? [] : [{ token: [] }]);
      if (!isOpen) expect(Object.keys(responses), name).toEqual(expect.arrayContaining(['401', '403']));
      const failures = Object.entries(responses).filter(([status]) => Number(status) >= 400);
      for (const [status, { content }] of failures) {
        expect(statuses, `${name} ${status}`).toContain(status);
        expect(Object.keys(content ?? {})).toEqual(['application/problem+json']);
      }
    }
  });
});
