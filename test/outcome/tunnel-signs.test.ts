import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  TunnelSigns,
  isAlert,
  signOf,
  type TunnelEnd,
  type TunnelSign,
} from '../../src/outcome/tunnel-signs.js';

const WINDOW_MS = 600_000;
const SITE = 'shop.example';
const good: TunnelEnd = { bytesIn: 600, bytesOut: 80_000, firstIn: 0x16, firstOut: 0x16, isFarEnd: false };
const ends: Readonly<Record<TunnelSign, TunnelEnd>> = {
  cut: { ...good, bytesOut: 0, firstOut: -1, isFarEnd: true },
  silence: { ...good, bytesOut: 0, firstOut: -1 },
  alert: { ...good, bytesOut: 7, firstOut: 0x15, isFarEnd: true },
  tiny: { ...good, bytesOut: 3000, isFarEnd: true },
};

describe('the sign in the end of a tunnel', () => {
  it.each(Object.entries(ends))('%s', (sign, end) => {
    expect(signOf(end, 80_000)).toBe(sign);
  });

  it.each<[string, TunnelEnd, number]>([
    ['of a good one', good, 80_000],
    ['into which nobody spoke', { ...ends.cut, bytesIn: 0 }, 80_000],
    ['that is small where all are', ends.tiny, 4000],
    ['that is small, while nobody knows what is usual', ends.tiny, 0],
    ['that is small and was ended by the client', { ...ends.tiny, isFarEnd: false }, 80_000],
    ['that began with a byte like an alert, without TLS', { ...ends.alert, firstIn: 0x47 }, 8],
  ])('is none in one %s', (_name, end, usual) => {
    expect(signOf(end, usual)).toBeNull();
  });

  it('an alert is no answer', () => {
    expect([isAlert(0x15), isAlert(0x16), isAlert(-1)]).toEqual([true, false, false]);
  });
});

describe('signs together', () => {
  const withGood = (): TunnelSigns => {
    const signs = new TunnelSigns(() => WINDOW_MS);
    signs.saw(SITE, 9, good, 0);
    return signs;
  };
  const against = (signs: TunnelSigns, sign: TunnelSign, nowMs: number, exit = 1) =>
    signs.saw(SITE, exit, ends[sign], nowMs).against;

  it('S8 are enough at the third of one kind', () => {
    const signs = withGood();
    expect([against(signs, 'cut', 1), against(signs, 'cut', 2)]).toEqual([null, null]);
    expect(against(signs, 'cut', 3)).toEqual({ sinceMs: 1, kinds: ['cut'], count: 3 });
    expect(against(signs, 'cut', 4)).toBeNull();
  });

  it('S8 are enough at the second of another kind', () => {
    const signs = withGood();
    against(signs, 'cut', 1);
    expect(against(signs, 'tiny', 2)).toMatchObject({ kinds: ['cut', 'tiny'], count: 2 });
  });

  it('do not count where no other exit was good: it may be the site', () => {
    const signs = new TunnelSigns(() => WINDOW_MS);
    for (let n = 0; n < 20; n++) expect(against(signs, 'alert', n)).toBeNull();
    signs.saw(SITE, 1, good, 20);
    for (let n = 21; n < 40; n++) expect(against(signs, 'alert', n)).toBeNull();
    signs.saw(SITE, 2, good, 40);
    expect(against(signs, 'alert', 41)).toMatchObject({ kinds: ['alert'] });
  });

  it('are forgotten with a good tunnel, and when they are old', () => {
    const signs = withGood();
    against(signs, 'cut', 1);
    against(signs, 'cut', 2);
    signs.saw(SITE, 1, good, 3);
    expect(against(signs, 'cut', 4)).toBeNull();
    against(signs, 'cut', 5);
    signs.saw(SITE, 9, good, WINDOW_MS);
    expect(against(signs, 'cut', WINDOW_MS + 5)).toBeNull();
  });

  it('are of one exit and one site', () => {
    const signs = withGood();
    signs.saw('other.example', 9, good, 0);
    for (let exit = 1; exit < 3; exit++)
      for (let n = 0; n < 2; n++) expect(against(signs, 'cut', n, exit)).toBeNull();
    expect(signs.saw('other.example', 1, ends.cut, 1).against).toBeNull();
  });

  it('stay bounded', () => {
    const signs = withGood();
    against(signs, 'cut', 1, 0);
    for (let exit = 10; exit < 1010; exit++) against(signs, 'cut', 1, exit);
    expect([against(signs, 'cut', 2, 0), against(signs, 'cut', 3, 0)]).toEqual([null, null]);
    for (let n = 0; n < 5000; n++) signs.saw(`site-${n}.example`, 1, good, 3);
    expect(against(signs, 'cut', 4, 0)).toBeNull();
  });

  it('never count against the only exit, whatever comes', () => {
    const any = fc.constantFrom(good, ...Object.values(ends));
    fc.assert(
      fc.property(fc.array(any, { maxLength: 30 }), (tunnels) => {
        const signs = new TunnelSigns(() => WINDOW_MS);
        tunnels.forEach((end, n) => expect(signs.saw(SITE, 1, end, n).against).toBeNull());
      }),
    );
  });
});
