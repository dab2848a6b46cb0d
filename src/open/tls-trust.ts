/** Whom we trust when an upstream speaks TLS, and in which words we say why we do not. */
import tls from 'node:tls';
import type { UpstreamTls } from '../upstreams/upstream.js';

/** Made once for each CA: reading all root certificates costs milliseconds. */
const contextsByCa = new Map<string | null, tls.SecureContext>();

/** The usual authorities (`NODE_EXTRA_CA_CERTS` among them) and the extra one. */
export function secureContextOf({ ca }: UpstreamTls): tls.SecureContext {
  const known = contextsByCa.get(ca);
  if (known !== undefined) return known;
  const context = tls.createSecureContext(ca === null ? {} : { ca: [...usualAuthorities(), ca] });
  contextsByCa.set(ca, context);
  return context;
}

/** Newer versions of Node tell what they trust by default; older ones only what they were built with. */
function usualAuthorities(): readonly string[] {
  const { getCACertificates } = tls as { getCACertificates?: (kind: 'default') => string[] };
  return getCACertificates?.('default') ?? tls.rootCertificates;
}

/** By the code of OpenSSL or Node. */
const TROUBLES: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'its certificate has expired',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet',
  CERT_REVOKED: 'its certificate was revoked',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name',
  HOSTNAME_MISMATCH: 'its certificate is for another name',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is signed by itself',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate comes from an unknown CA',
  UNABLE_TO_GET_ISSUER_CERT: 'its certificate comes from an unknown CA',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'its certificate comes from an unknown CA',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate comes from an unknown CA',
  ERR_SSL_WRONG_VERSION_NUMBER: 'it does not speak TLS on this port',
};

/** What was wrong, for people, with the code. */
export function tlsTrouble(error: NodeJS.ErrnoException): string {
  const code = error.code ?? 'no code';
  const trouble = TROUBLES[code] ?? 'the TLS handshake failed';
  return `TLS with the upstream: ${trouble} (${code})`;
}
