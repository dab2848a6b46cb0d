import { describe, expect, it } from 'vitest';
import { aeadOpen, aeadSeal } from '../../src/core/aead.js';

const hex = (text: string): Buffer => Buffer.from(text, 'hex');

const plain =
  'd9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b391aafd255';
const cipher =
  '522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662898015ad';
const key = 'feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308';
const zeros = '00'.repeat(32);

/** Test cases 13 to 16 of the specification of GCM (McGrew, Viega; NIST SP 800-38D). */
const vectors = [
  {
    key: zeros,
    nonce: '00'.repeat(12),
    plain: '',
    bound: '',
    cipher: '',
    tag: '530f8afbc74536b9a963b4f1c4cb738b',
  },
  {
    ...{ key: zeros, nonce: '00'.repeat(12), plain: '00'.repeat(16), bound: '' },
    ...{ cipher: 'cea7403d4d606b6e074ec5d3baf39d18', tag: 'd0d1c8a799996bf0265b98b5d48ab919' },
  },
  {
    key,
    nonce: 'cafebabefacedbaddecaf888',
    plain,
    bound: '',
    cipher,
    tag: 'b094dac5d93471bdec1a502270e3cc6c',
  },
  {
    ...{ key, nonce: 'cafebabefacedbaddecaf888', plain: plain.slice(0, 120) },
    bound: 'feedfacedeadbeeffeedfacedeadbeefabaddad2',
    ...{ cipher: cipher.slice(0, 120), tag: '76fc6ece0f4e1768cddf8853bb2d551b' },
  },
];

describe('AES-256-GCM', () => {
  it.each(vectors)('gives the published answer $tag', (vector) => {
    const sealed = hex(vector.nonce + vector.cipher + vector.tag);
    const bound = hex(vector.bound);
    expect(aeadSeal(hex(vector.key), hex(vector.nonce), hex(vector.plain), bound)).toEqual(sealed);
    expect(aeadOpen(hex(vector.key), sealed, bound)).toEqual(hex(vector.plain));
  });

  it('opens nothing that was changed, bound elsewhere, or sealed with another key', () => {
    const sealed = aeadSeal(hex(key), Buffer.alloc(12), hex(plain), Buffer.from('here'));
    expect(aeadOpen(hex(key), sealed, Buffer.from('there'))).toBeNull();
    expect(aeadOpen(hex(zeros), sealed, Buffer.from('here'))).toBeNull();
    for (let at = 0; at < sealed.length; at += 1) {
      const changed = Buffer.from(sealed);
      changed[at] = (changed[at] ?? 0) ^ 0x80;
      expect(aeadOpen(hex(key), changed, Buffer.from('here')), `byte ${at}`).toBeNull();
    }
  });

  it('takes no short tag, no short key and no short nonce', () => {
    const sealed = aeadSeal(hex(key), Buffer.alloc(12), Buffer.alloc(0), Buffer.alloc(0));
    for (let length = 0; length < sealed.length; length += 1)
      expect(aeadOpen(hex(key), sealed.subarray(0, length), Buffer.alloc(0))).toBeNull();
    expect(aeadOpen(Buffer.alloc(16), sealed, Buffer.alloc(0))).toBeNull();
    expect(() => aeadSeal(Buffer.alloc(16), Buffer.alloc(12), sealed, sealed)).toThrow(RangeError);
    expect(() => aeadSeal(hex(key), Buffer.alloc(8), sealed, sealed)).toThrow(RangeError);
  });
});
