import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hashPassword, isPassword, nobodysHash, readPasswordHash } from '../../src/access/password-hash.js';

describe('a stored password', () => {
  it('is that password and no other, with a salt of its own', async () => {
    const [one, two] = [await hashPassword('correct horse'), await hashPassword('correct horse')];
    expect(one).toMatch(/^\$scrypt\$ln=15,r=8,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
    expect(two).not.toBe(one);
    const read = readPasswordHash(one);
    if (read === null) throw new Error('it can not be read');
    expect(await isPassword(read, 'correct horse')).toBe(true);
    expect(await isPassword(read, 'correct horsf')).toBe(false);
    expect(await isPassword(nobodysHash, '')).toBe(false);
  });

  it('of an RFC 7914 vector is found', async () => {
    const hash = Buffer.from('fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b373162', 'hex');
    const text = `$scrypt$ln=10,r=8,p=16$${Buffer.from('NaCl').toString('base64')}$x`;
    expect(readPasswordHash(text)).toBeNull();
    expect(await isPassword({ ln: 10, r: 8, p: 16, salt: Buffer.from('NaCl'), hash }, 'password')).toBe(true);
  });

  it.each([
    '',
    'plain',
    '$scrypt$ln=31,r=8,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
    '$scrypt$ln=15,r=99,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
    '$scrypt$ln=15,r=8,p=99$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
    '$scrypt$ln=15,r=0,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
    '$scrypt$ln=01,r=8,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
    '$argon2id$v=19$m=65536,t=3,p=4$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
  ])('%s is none, whatever it would cost', (text) => {
    expect(readPasswordHash(text)).toBeNull();
  });

  it('is never read from anything else', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(readPasswordHash(text)).toBeNull();
      }),
    );
  });
});
