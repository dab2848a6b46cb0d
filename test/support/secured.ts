/** TLS to the gateway itself: a listener with a certificate, and a client that speaks TLS to it. */
import tls from 'node:tls';
import type { TestGateway } from './gateway.js';
import { makeCertificate, type TestCertificate } from './real-origins.js';
import type { Stage } from './stage.js';

/** The part of the configuration that gives the proxy listener this certificate. */
export const listenWith = ({ certPath, keyPath }: TestCertificate) => ({
  listen: { proxy: [{ at: '127.0.0.1:0', tls: { cert: certPath, key: keyPath } }], admin: '127.0.0.1:0' },
});

/** A connection by TLS. */
export interface Secured {
  readonly socket: tls.TLSSocket;
  text(): string;
  ended(): boolean;
  failure(): string | undefined;
}

/** Certificates and connections that end with the test. */
export function securedStage(stage: Stage) {
  const certified = async (): Promise<TestCertificate> => {
    const certificate = await makeCertificate();
    stage.keep({ close: () => certificate.dispose() });
    return certificate;
  };
  const connectTls = (gateway: TestGateway, certificate: TestCertificate, alpn: string[] = []): Secured => {
    const socket = tls.connect({
      ...{ host: '127.0.0.1', port: gateway.port, ca: certificate.ca, allowHalfOpen: true },
      ...(alpn.length === 0 ? {} : { ALPNProtocols: alpn }),
    } as tls.ConnectionOptions);
    let [text, ended] = ['', false];
    let failure: string | undefined;
    socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
    socket.on('end', () => (ended = true));
    socket.on('error', (error: NodeJS.ErrnoException) => (failure = error.code ?? 'unknown'));
    stage.keep({ close: async () => void socket.destroy() });
    return { socket, text: () => text, ended: () => ended, failure: () => failure };
  };
  return { certified, connectTls };
}
