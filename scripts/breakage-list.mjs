/**
 * Deliberate breakages of the source, each a fault that people met with such systems. `npm run breakages` makes each in a
 * copy of the tree and sees a field test go red. Another one: a text that stands once in `file`, what it becomes, and the
 * field case that must notice (`case` is looked for in the titles of the tests of `test`).
 */

/** @typedef {{ what: string, file: string, find: string, put: string, test: string, case: string }} Breakage */

/** @type {readonly Breakage[]} */
export const breakages = [
  {
    what: 'tunnel bytes glued behind the 200 of an upstream get lost',
    ...{ file: 'src/open/http.ts', test: 'c-connect', case: 'C03' },
    find: "settle({ kind: 'tunnel', wire, rest: Buffer.from(rest) });",
    put: "settle({ kind: 'tunnel', wire, rest: Buffer.alloc(0) });",
  },
  {
    what: 'bytes of a client behind its CONNECT get lost',
    ...{ file: 'src/gateway/relay.ts', test: 'c-connect', case: 'C01' },
    find: 'for (const chunk of early) there.bytes(chunk);',
    put: 'void early;',
  },
  {
    what: 'only a 200 opens a tunnel',
    ...{ file: 'src/open/http.ts', test: 'c-connect', case: 'C08' },
    find: 'if (head.status < 300) {',
    put: 'if (head.status === 200) {',
  },
  {
    what: 'CONNECT is sent with the name alone as Host',
    ...{ file: 'src/open/http.ts', test: 'c-connect', case: 'C10' },
    find: "Fields.of(['Host', target.hostPort])",
    put: "Fields.of(['Host', target.host])",
  },
  {
    what: 'a FIN is not passed on in a tunnel',
    ...{ file: 'src/gateway/relay.ts', test: 'l-ends', case: 'L01' },
    find: '  ended(): void {\n    this.to.end();',
    put: '  ended(): void {',
  },
  {
    what: 'a refused CONNECT keeps its connection',
    ...{ file: 'src/gateway/respond.ts', test: 'c-refusals', case: 'C04' },
    find: "if (exchange.head.method === 'CONNECT' && row.status !== 407) exchange.closeAfter();",
    put: '',
  },
  {
    what: 'what follows a challenged CONNECT is run as a request',
    ...{ file: 'src/gateway/client-connection.ts', test: 'c-refusals', case: 'C17' },
    find: "if (head.method === 'CONNECT' || upgradeOf(head) !== null) exchange.closeAfter();",
    put: 'void head;',
  },
  {
    what: 'a 407 brings no challenge',
    ...{ file: 'src/gateway/respond.ts', test: 'a-auth', case: 'A12' },
    find: 'if (row.status === 407) fields',
    put: 'if (row.status === 401) fields',
  },
  {
    what: 'the login of a client goes on to upstreams',
    ...{ file: 'src/http1/fields.ts', test: 'a-auth', case: 'A09' },
    find: "  'proxy-authorization',\n",
    put: '',
  },
  {
    what: 'a login at an upstream is sent as Latin-1',
    ...{ file: 'src/open/http.ts', test: 'a-auth', case: 'A04' },
    find: "Buffer.from(pair, 'utf8')",
    put: "Buffer.from(pair, 'latin1')",
  },
  {
    what: 'fields that Connection names travel on',
    ...{ file: 'src/http1/forwardable.ts', test: 'h-fields', case: 'H27' },
    find: 'isHopByHop(name) || named.includes(name) || alsoDrop(name)',
    put: 'isHopByHop(name) || (named.length < 0 && named.includes(name)) || alsoDrop(name)',
  },
  {
    what: 'Host is what the client says',
    ...{ file: 'src/gateway/forward.ts', test: 'h-fields', case: 'H29' },
    find: "  fields.set('Host', ask.context.target.authority);\n",
    put: '',
  },
  {
    what: 'Content-Length together with chunked is let pass in requests',
    ...{ file: 'src/http1/framing.ts', test: 'h-framing', case: 'H01' },
    find: 'lengths === 0) return NONE;\n  if (codings && lengths > 0) return',
    put: 'lengths === 0) return NONE;\n  if (codings && lengths > 99) return',
  },
  {
    what: 'Content-Length together with chunked is let pass in answers',
    ...{ file: 'src/http1/framing.ts', test: 'h-framing', case: 'H01' },
    find: "fields.count('content-length');\n  if (codings && lengths > 0) return",
    put: "fields.count('content-length');\n  if (codings && lengths > 99) return",
  },
  {
    what: 'a 204 waits for the body that its fields promise',
    ...{ file: 'src/http1/framing.ts', test: 'h-framing', case: 'H23' },
    find: "requestMethod === 'HEAD' || status === 204 ||",
    put: "requestMethod === 'HEAD' ||",
  },
  {
    what: 'a cut answer is ended as if it were whole',
    ...{ file: 'src/gateway/forward.ts', test: 'h-cut', case: 'H26' },
    find: 'if (!exchange.withdraw()) exchange.abort();',
    put: 'if (!exchange.withdraw()) exchange.end(null);',
  },
  {
    what: 'an answer that breaks before its head went out is an empty reply',
    ...{ file: 'src/gateway/forward.ts', test: 'h-framing', case: 'H05' },
    find: 'if (!exchange.withdraw()) exchange.abort();',
    put: 'exchange.abort();',
  },
  {
    what: 'half a page that was held for a look goes on as if it were one',
    ...{ file: 'src/gateway/forward.ts', test: 'h-cut', case: 'H26' },
    find: 'if (broken !== null && seen.finding === null)',
    put: 'if (broken !== null && seen.finding !== null)',
  },
  {
    what: 'an upgrade takes its body for bytes without frame',
    ...{ file: 'src/gateway/forward.ts', test: 'h-interim', case: 'H38' },
    find: '  if (exchange.body !== null) return null;\n',
    put: '',
  },
  {
    what: 'every 100 is passed on',
    ...{ file: 'src/gateway/forward.ts', test: 'h-interim', case: 'H17' },
    find: 'if (head.status === 100 && this.continueWatch?.mayPass() !== true) return;',
    put: '',
  },
  {
    what: 'a client that waits for a 100 waits for ever',
    ...{ file: 'src/gateway/forward.ts', test: 'h-interim', case: 'H16' },
    find: '    this.continueWatch?.start();\n',
    put: '',
  },
  {
    what: 'a body that follows a kept-alive answer is not looked for',
    ...{ file: 'src/open/http-connection.ts', test: 'l-clients', case: 'a kept connection to an upstream' },
    find: ' && !mayBeMisread(request)',
    put: '',
  },
  {
    what: 'a client that leaves does not end the transfer',
    ...{ file: 'src/gateway/forward.ts', test: 'l-ends', case: 'L07' },
    find: '        body.cancel();\n        resolve(',
    put: '        resolve(',
  },
  {
    what: 'the reader of a tunnel sets no pace',
    ...{ file: 'src/gateway/relay.ts', test: 'x-resources', case: 'X01' },
    find: 'if (!this.relay.passed(this.from, chunk) || this.to.write(chunk)) return;',
    put: 'if (!this.relay.passed(this.from, chunk) || this.to.write(Buffer.from(chunk)) || true) return;',
  },
  {
    what: 'running out of ports is held against the exit',
    ...{ file: 'src/open/local-faults.ts', test: 'x-resources', case: 'X06' },
    find: "EADDRNOTAVAIL: 'local'",
    put: "EADDRNOTAVAIL: 'refused'",
  },
  {
    what: 'bytes glued behind the reply of SOCKS get lost',
    ...{ file: 'src/open/socks.ts', test: 's-socks', case: 'S06' },
    find: 'rest: Buffer.from(step.rest)',
    put: 'rest: Buffer.alloc(0)',
  },
  {
    what: 'direct:// dials what was not checked',
    ...{ file: 'src/open/direct.ts', test: 'z-rebinding', case: 'Z05' },
    find: '    if (failure === null) continue;',
    put: '    if (failure === null || addresses.length > 1) continue;',
  },
  {
    what: 'our own ports are no loop',
    ...{ file: 'src/protocol/target-policy.ts', test: 'z-loops', case: 'Z01' },
    find: 'if (own.ports.has(port) && isOwnHost(host, addressClass, own)) return loop(target.hostPort);',
    put: '',
  },
  {
    what: 'a gateway does not know its own mark',
    ...{ file: 'src/gateway/understand.ts', test: 'z-loops', case: 'Z01' },
    find: '!passedBy(head).includes(services.gatewayId)',
    put: '!passedBy(head).includes(`not ${services.gatewayId}`)',
  },
  {
    what: 'kept connections are shared between sessions',
    ...{ file: 'src/gateway/pick-exit.ts', test: 'a-auth', case: 'A17' },
    find: "const idleKey = `${upstream.id} ${use.sessionKey ?? ''}`;",
    put: 'const idleKey = upstream.id;',
  },
];
