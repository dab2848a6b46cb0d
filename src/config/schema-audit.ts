/** `audit`: where the record of who used what goes, besides the database. */
import { z } from 'zod';
import { text, withHelp } from './fields.js';

/** `audit` */
export const auditSchema = withHelp(
  z
    .strictObject({
      file: withHelp(text('a path'), {
        help:
          'A file that every record goes to as well, as a line of JSON; best on another disk, or one that is shipped away. ' +
          'A record counts as kept when the database or the file has it, so credentials can be used while one of them is away. ' +
          'SIGHUP opens it anew, for rotation.',
        example: './audit.log',
      }).optional(),
    })
    .prefault({}),
  { help: 'Who used which credential, from where and for what. See docs/audit.md.' },
);
