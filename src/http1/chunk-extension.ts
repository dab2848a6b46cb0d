/**
 * The grammar of chunk extensions (RFC 9112, section 7.1.1), without the blanks it frowns upon:
 * `*( ";" token [ "=" ( token / quoted-string ) ] )`. What they say nobody reads; this decides only whether two
 * servers could differ about where they end.
 */
import { TOKEN, VALUE } from './octets.js';

const SEMICOLON = 0x3b;
const EQUALS = 0x3d;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

type Place = 'name_start' | 'name' | 'value_start' | 'value' | 'quoted' | 'quoted_pair' | 'after_quoted';

/** Follows the extensions of one chunk, beginning after the first semicolon. */
export class ExtensionWatch {
  private place: Place = 'name_start';

  /** Begins anew, for the next chunk. */
  restart(): void {
    this.place = 'name_start';
  }

  /** Whether the line may end here. */
  get mayEnd(): boolean {
    return this.place === 'name' || this.place === 'value' || this.place === 'after_quoted';
  }

  /** Takes an octet that ends no line; false if it may not stand here. */
  take(octet: number): boolean {
    const next = this.nextPlace(octet);
    if (next === null) return false;
    this.place = next;
    return true;
  }

  private nextPlace(octet: number): Place | null {
    const isToken = Boolean(TOKEN[octet]);
    switch (this.place) {
      case 'name_start':
        return isToken ? 'name' : null;
      case 'name':
        if (octet === EQUALS) return 'value_start';
        return isToken ? 'name' : this.nextExtension(octet);
      case 'value_start':
        if (octet === QUOTE) return 'quoted';
        return isToken ? 'value' : null;
      case 'value':
        return isToken ? 'value' : this.nextExtension(octet);
      case 'quoted':
        if (octet === QUOTE) return 'after_quoted';
        if (octet === BACKSLASH) return 'quoted_pair';
        return VALUE[octet] ? 'quoted' : null;
      case 'quoted_pair':
        return VALUE[octet] ? 'quoted' : null;
      case 'after_quoted':
        return this.nextExtension(octet);
    }
  }

  private nextExtension(octet: number): Place | null {
    return octet === SEMICOLON ? 'name_start' : null;
  }
}
