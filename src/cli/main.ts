#!/usr/bin/env node
/** argv → command → exit code. */
import './engine.js';
import { keepAlive } from './keep-alive.js';
import { processOutput } from './output.js';
import { run } from './run.js';

keepAlive();
// Without a listener Node opens its debugger on this signal, and with it every secret of the process.
process.on('SIGUSR1', () => undefined);
// Whoever read our words may be gone (EPIPE). That is no reason to end, and a fault of its own would be told to it for ever.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
process.exit(await run(process.argv.slice(2), processOutput));
