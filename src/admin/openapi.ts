/** The API described for programs: OpenAPI, made from the schemas of the routes and the table of scopes. */
import swagger from '@fastify/swagger';
import type { FastifyInstance } from 'fastify';
import { createJsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod';
import { route, type ApiRoute } from './route.js';
import { needOf } from './scopes.js';

const transform = createJsonSchemaTransform({ skipList: [] });

/** Has the server remember the routes that are added from now on. */
export async function describeApi(server: FastifyInstance): Promise<void> {
  await server.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Turnpike admin API', version: '1' },
      components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
    },
    transform: (given) => {
      const { schema, url } = transform(given);
      const method = Array.isArray(given.route.method) ? given.route.method[0] : given.route.method;
      const need = needOf(method ?? 'GET', given.route.url);
      const isOpen = need === null || need === 'open' || need === 'metrics';
      const described = isOpen ? {} : { security: [{ token: [] }], description: `Scope: ${need}.` };
      return { schema: { ...schema, ...described }, url };
    },
    transformObject: jsonSchemaTransformObject,
  });
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
