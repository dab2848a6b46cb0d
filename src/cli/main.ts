#!/usr/bin/env node
/** argv → command → exit code. */
import { keepAlive } from './keep-alive.js';
import { processOutput } from './output.js';
import { run } from './run.js';

keepAlive();
process.exit(await run(process.argv.slice(2), processOutput));
