/** How the admin listener is reached: by a socket of the file system, by TLS, with a token that is made when none is there. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import https from 'node:https';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { adminSection, askAdmin, tokens } from '../support/admin.js';
import { createStage } from '../support/stage.js';
import { waitFor } from '../support/wait.js';

const stage = createStage();
let folder = '';
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'turnpike-door-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('a socket in the file system', () => {
  it('is for its owner only, wants a token all the same, and is gone afterwards', async () => {
    const path = join(folder, 'admin.sock');
    const gateway = await stage.gateway([], {
      admin: adminSection,
      listen: { proxy: '127.0.0.1:0', admin: `unix:${path}` },
    });
    expect((statSync(path).mode & 0o777).toString(8)).toBe('600');
    expect((await askAdmin(path, '/api/v1/status', { token: tokens.read })).status).toBe(200);
    expect((await askAdmin(path, '/api/v1/status', { token: null })).status).toBe(401);
    expect((await askAdmin(path, '/metrics', { token: null })).status).toBe(200);
    await gateway.app.stop('the test is over');
    expect(existsSync(path)).toBe(false);
  });

  it('that a dead process left behind is replaced, and nothing else is', async () => {
    const path = join(folder, 'admin.sock');
    const listen = { proxy: '127.0.0.1:0', admin: `unix:${path}` };
    const script = `require('net').createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, 'SIGKILL'))`;
    expect(() => execFileSync(process.execPath, ['-e', script])).toThrow();
    expect(statSync(path).isSocket()).toBe(true);
    await stage.gateway([], { admin: adminSection, listen });
    expect((await askAdmin(path, '/healthz')).status).toBe(200);
    await expect(stage.gateway([], { admin: adminSection, listen })).rejects.toMatchObject({
      code: 'EADDRINUSE',
    });
    const file = join(folder, 'file');
    writeFileSync(file, 'keep me');
    const onFile = { proxy: '127.0.0.1:0', admin: `unix:${file}` };
    await expect(stage.gateway([], { admin: adminSection, listen: onFile })).rejects.toThrow();
    expect(readFileSync(file, 'utf8')).toBe('keep me');
  });
});

describe('TLS', () => {
  it('is spoken with the certificate of the configuration, and nothing else is', async () => {
    const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
    const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
    const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
    execFileSync('openssl', ['req', '-x509', ...kind, '-keyout', key, '-out', cert, ...subject], {
      stdio: 'ignore',
    });
    const { adminPort: port } = await stage.gateway([], { admin: { ...adminSection, tls: { cert, key } } });
    const [otherCert, otherKey] = [join(folder, 'other.pem'), join(folder, 'other-key.pem')];
    execFileSync('openssl', ['req', '-x509', ...kind, '-keyout', otherKey, '-out', otherCert, ...subject], {
      stdio: 'ignore',
    });
    await expect(
      stage.gateway([], { admin: { ...adminSection, tls: { cert, key: otherKey } } }),
    ).rejects.toThrow(/admin\.tls\.key.* no key that belongs to the certificate/);
    const status = await new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${tokens.read}` };
      const options = {
        host: 'localhost',
        family: 4,
        port,
        path: '/api/v1/status',
        headers,
        agent: false,
      } as const;
      https
        .get({ ...options, ca: readFileSync(cert) }, (answer) => resolve(answer.resume().statusCode))
        .once('error', reject);
    });
    expect(status).toBe(200);
    const plain = net.connect(port, '127.0.0.1');
    let text = '';
    plain.on('data', (chunk) => (text += chunk.toString('latin1'))).on('error', () => undefined);
    plain.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await waitFor('the end', () => plain.closed);
    expect(text).not.toContain('alive');
  });
});

describe('without any token in the configuration', () => {
  it('one is made and kept, its path told and its value not', async () => {
    const gateway = await stage.gateway([]);
    const note = await gateway.event('note', ({ what }) => what === 'admin_token');
    const path = String(note.detail['path']);
    expect(note.detail).toEqual({ path, isNew: true, wasReadableByOthers: false });
    const token = readFileSync(path, 'utf8').trim();
    expect((statSync(path).mode & 0o777).toString(8)).toBe('600');
    expect((await askAdmin(gateway.adminPort, '/api/v1/status', { token })).status).toBe(200);
    expect((await askAdmin(gateway.adminPort, '/api/v1/status', { token: `${token}0` })).status).toBe(401);
    expect(JSON.stringify(gateway.events)).not.toContain(token);
  });

  it('TURNPIKE_ADMIN_TOKEN is one, and no file is made', async () => {
    const token = 'a-token-of-the-environment';
    const gateway = await stage.gateway([], {}, { env: { TURNPIKE_ADMIN_TOKEN: token } });
    expect((await askAdmin(gateway.adminPort, '/api/v1/status', { token })).status).toBe(200);
    expect(existsSync(join(dirname(gateway.logFile), 'data'))).toBe(false);
  });

  it('a data folder that can not be written costs the API and not the gateway', async () => {
    writeFileSync(join(folder, 'data'), '');
    const exit = await stage.good('exit');
    const gateway = await stage.gateway([exit], { data_dir: join(folder, 'data') });
    await gateway.event('note', ({ what }) => what === 'admin_token_not_kept');
    expect((await askAdmin(gateway.adminPort, '/api/v1/status', { token: '' })).status).toBe(401);
    expect((await askAdmin(gateway.adminPort, '/readyz')).status).toBe(200);
  });
});
