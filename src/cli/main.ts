#!/usr/bin/env node
/** argv → command → exit code. */
import './engine.js';
import { keepAlive } from './keep-alive.js';
import { processOutput } from './output.js';
import { run } from './run.js';

keepAlive();
// Without a listener Node opens its debugger on this signal, and with it every secret of the process.
process.on('SIGUSR1', () => undefined);
process.exit(await run(process.argv.slice(2), processOutput));
