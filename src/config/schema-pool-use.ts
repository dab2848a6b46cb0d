/** Settings of how the exits of a pool are used: bounds, rest between two uses, and what it costs. */
import { z } from 'zod';
import { count, duration, quantity, withHelp } from './fields.js';

/** `pools.NAME.limits` */
export const poolLimitsSchema = withHelp(
  z.strictObject(
    {
      slots: withHelp(count(1), {
        help: 'Most requests at once through one exit. Without it there is no limit.',
        example: 10,
      }).optional(),
      spacing: withHelp(
        z.union([z.literal('auto'), duration()], { error: "expected a time such as '2s', or 'auto'" }),
        {
          help:
            'Rest of an exit between two requests to one site, from the answer to the next request. auto learns what each ' +
            'site tolerates. Requests wait for it, up to timeouts.acquire.',
          example: 'auto',
        },
      ).optional(),
      site_slots: withHelp(count(1), {
        help: 'Most requests at once to one site, through all exits of the pool.',
        example: 50,
      }).optional(),
    },
    { error: 'expected limits such as { slots: 10 }' },
  ),
  { help: 'Bounds of each exit of the pool.' },
).prefault({});

const amount = (help: string, example: number) =>
  withHelp(quantity('expected an amount from 0', { least: 0, most: 1e9 }), { help, example }).optional();

/** `pools.NAME.cost` */
export const poolCostSchema = withHelp(
  z.strictObject(
    {
      per_gb: amount('Price of 10^9 bytes, both directions together.', 4),
      per_request: amount('Price of a request, that is of each try.', 0.001),
      per_day: amount(
        'Budget: with this spent the pool serves nobody until midnight (UTC). Counted by each process from its start.',
        20,
      ),
    },
    { error: 'expected prices such as { per_gb: 4, per_day: 20 }' },
  ),
  { help: 'What the pool costs, in whatever currency, and how much of it a day.' },
).prefault({});
