/**
 * The API described for programs: OpenAPI, made from the schemas of the routes, the table of scopes and the table of
 * problems. What an operation answers when it fails follows from what it takes.
 */
import swagger from '@fastify/swagger';
import type { FastifyInstance } from 'fastify';
import { createJsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod';
import { problemCodes, problemTable, type ProblemCode } from './problem-codes.js';
import { route, type ApiRoute } from './route.js';
import { needOf } from './scopes.js';

const transform = createJsonSchemaTransform({ skipList: [] });

const problemSchema = {
  type: 'object',
  required: ['type', 'title', 'status', 'code', 'detail'],
  properties: {
    type: { type: 'string', const: 'about:blank' },
    title: { type: 'string' },
    status: { type: 'integer' },
    code: { type: 'string', enum: problemCodes, description: 'What programs go by; see docs/api.md.' },
    detail: { type: 'string', description: 'For people: what was wrong, and with which field.' },
    errors: {
      type: 'array',
      description: 'Each thing that was wrong, where there may be several.',
      items: {
        type: 'object',
        required: ['message'],
        properties: {
          path: { type: 'string' },
          line: { type: 'integer' },
          message: { type: 'string' },
        },
      },
    },
  },
};

/** Has the server remember the routes that are added from now on. */
export async function describeApi(server: FastifyInstance, routes: readonly ApiRoute[]): Promise<void> {
  const known = new Map(routes.map((each) => [`${each.method} ${each.path}`, each]));
  await server.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Turnpike admin API',
        version: '1',
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: '/' }],
      components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
    },
    transform: (given) => {
      const { schema, url } = transform(given);
      const method = Array.isArray(given.route.method) ? given.route.method[0] : given.route.method;
      const described = known.get(`${method} ${given.route.url}`);
      return { schema: { ...schema, ...(described !== undefined && wordsOf(described)) }, url };
    },
    transformObject: (given) => withProblems(jsonSchemaTransformObject(given) as Described, known),
  });
}

/** What is said of an operation beside its schemas. */
function wordsOf(each: ApiRoute): Record<string, unknown> {
  const { method, path, textTypes } = each;
  const need = needOf(method, path);
  const isOpen = need === null || need === 'open' || need === 'metrics';
  const words = path
    .replace('/api/v1/', '')
    .split(/[^A-Za-z]+/)
    .filter((word) => word !== '');
  const tail = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
  return {
    operationId: `${method.toLowerCase()}${tail}`,
    tags: [words[0] ?? ''],
    ...(textTypes !== undefined && { consumes: textTypes }),
    ...(isOpen ? { security: [] } : { security: [{ token: [] }], description: `Scope: ${need}.` }),
  };
}

/** Codes of the problems that a route may answer with, in the order of the table. */
export function problemsOf({ method, path, schema, problems = [], isOnce = false }: ApiRoute): ProblemCode[] {
  const need = needOf(method, path);
  const found = new Set<ProblemCode>(['misdirected', ...problems]);
  const add = (isSo: boolean, ...codes: ProblemCode[]): void =>
    codes.forEach((code) => isSo && found.add(code));
  add(need !== 'open', 'unauthorized', 'forbidden');
  add(
    ['querystring', 'params', 'body', 'headers'].some((part) => part in schema),
    'malformed',
  );
  add('params' in schema, 'not_found');
  add('body' in schema, 'too_large', 'unknown_type');
  add(isOnce, 'once_under_way', 'once_differs');
  return problemCodes.filter((code) => found.has(code));
}

/** The part of a description that is gone over here. */
interface Described {
  readonly paths?: Readonly<Record<string, Readonly<Record<string, { readonly responses?: object }>>>>;
  readonly components?: { readonly schemas?: object };
}

/** Adds the answers that tell of problems: one a status, with the codes that it stands for. */
function withProblems<T extends Described>(description: T, known: ReadonlyMap<string, ApiRoute>): T {
  const paths = Object.entries(description.paths ?? {}).map(([path, item]): [string, unknown] => {
    const operations = Object.entries(item).map(([method, operation]): [string, unknown] => {
      const url = path.replace(/\{(\w+)\}/g, ':$1');
      const found = known.get(`${method.toUpperCase()} ${url}`);
      const failures = found === undefined ? {} : answersOf(problemsOf(found));
      return [method, { ...operation, responses: { ...operation.responses, ...failures } }];
    });
    return [path, Object.fromEntries(operations)];
  });
  const schemas = Object.entries({ ...description.components?.schemas, Problem: problemSchema });
  // Of each schema with a name there is one for what is taken and one for what is given, whether it is used or not.
  const text = JSON.stringify([paths, schemas]);
  const used = schemas.filter(([name]) => text.includes(`"#/components/schemas/${name}"`));
  return {
    ...description,
    paths: Object.fromEntries(paths),
    components: { ...description.components, schemas: Object.fromEntries(used) },
  };
}

function answersOf(codes: readonly ProblemCode[]): Record<string, unknown> {
  const content = { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } };
  const statuses = new Set(codes.map((code) => problemTable[code].status));
  return Object.fromEntries(
    [...statuses].map((status) => {
      const told = codes.filter((code) => problemTable[code].status === status);
      const description = told.map((code) => `\`${code}\`: ${problemTable[code].title}`).join(' ');
      return [status, { description, content }];
    }),
  );
}

/** The route that gives the description. */
export function openApiRoute(server: FastifyInstance): ApiRoute {
  return route({
    method: 'GET',
    path: '/api/v1/openapi.json',
    summary: 'This description.',
    handle: ({ reply }) => reply.send(server.swagger()),
  });
}
