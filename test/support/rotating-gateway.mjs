/**
 * A process that keeps rotating the keys of a vault: for tests that kill it. What it needs stands in one argument as JSON:
 * `storage` (`password` as text), `key` (base64), `instance`, `rotates` (begins a rotation where none is under way) and `reencrypt`.
 * It runs what `npm run build` made, says `open` once its vault is, and `moves` when it begins to keep a batch of records.
 */
import { systemClock } from '../../dist/core/clock.js';
import { systemBytes } from '../../dist/core/random.js';
import { Secret } from '../../dist/core/secret.js';
import { openDatabase } from '../../dist/storage/open-database.js';
import { openVault } from '../../dist/vault/key-vault.js';

const { storage, key, instance, rotates, reencrypt } = JSON.parse(process.argv[2]);
const settings = storage.kind === 'sqlite' ? storage : { ...storage, password: new Secret(storage.password) };
const db = await openDatabase(settings, { clock: systemClock });
const reseal = db.credentials.reseal.bind(db.credentials);
db.credentials.reseal = (seals) => {
  process.stdout.write('moves\n');
  return reseal(seals);
};
const vault = await openVault({
  ...{ db, instance, clock: systemClock, chance: systemBytes },
  rootKey: async () => Buffer.from(key, 'base64'),
  emit: (event) => {
    if (event.type === 'note') process.stderr.write(`${JSON.stringify(event)}\n`);
  },
  pace: { batch: 200, pauseMs: 20 },
});
process.stdout.write(`${vault.state.kind}\n`);

/** Something is to be done as long as a key is new, or records are under an old one. */
async function isBusy() {
  for (const { id, state } of vault.keys()) {
    if (state === 'pending') return true;
    if (state === 'retired' && (await db.credentials.sealedUnder(id, 1)).length > 0) return true;
  }
  return false;
}

setInterval(async () => {
  await vault.refresh();
  if (rotates && !(await isBusy())) await vault.rotation.start({ reencrypt });
}, 100);
