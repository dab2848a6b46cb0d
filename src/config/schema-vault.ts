/** `vault`: where the root key of stored secrets comes from. */
import { z } from 'zod';
import { secretRef, text, withHelp } from './fields.js';

/** The name of the variable that holds the root key, where the file names no other place. */
export const vaultKeyVariable = 'TURNPIKE_VAULT_KEY';

/** `vault` */
export const vaultSchema = withHelp(
  z
    .strictObject({
      key: withHelp(secretRef('where the root key is'), {
        help: `The root key, 32 bytes as base64: file:PATH (mode 0600; turnpike vault init makes one) or env:NAME. Without it ${vaultKeyVariable}, and without that there is no vault.`,
        example: 'file:/etc/turnpike/vault.key',
      }).optional(),
      command: withHelp(
        z
          .array(text('a word of the command'), { error: 'expected a list such as [kms-read, turnpike]' })
          .min(1, { error: 'must not be empty' }),
        {
          help: 'Instead: a program and its arguments, which prints the root key (a KMS). No shell; 10 s at most.',
          example: ['sops', '--decrypt', '/etc/turnpike/vault.key.enc'],
        },
      ).optional(),
    })
    .prefault({}),
  { help: 'Stored secrets. See docs/vault.md.' },
);
