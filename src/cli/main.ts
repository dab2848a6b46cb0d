#!/usr/bin/env node
/** argv → command → exit code. */
import { processOutput } from './output.js';
import { run } from './run.js';

process.exit(await run(process.argv.slice(2), processOutput));
