import { expect, it } from 'vitest';
import { nearest } from '../../src/config/near-miss.js';

const known = ['dial', 'first_byte', 'client_header', 'client_idle', 'pools', 'clients', 'strategy'];

it.each([
  ['dail', 'dial'],
  ['firstByte', 'first_byte'],
  ['first-byte', 'first_byte'],
  ['client_haeder', 'client_header'],
  ['pool', 'pools'],
  ['Clients', 'clients'],
  ['strategey', 'strategy'],
])('%s was meant to be %s', (given, meant) => expect(nearest(given, known)).toBe(meant));

it.each(['banana', 'x', '', 'bypass', 'a'.repeat(1000)])('%j is near nothing', (given) =>
  expect(nearest(given, known)).toBeNull(),
);
