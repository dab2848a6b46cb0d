/** The Python clients: a script each, started once for all its asks, by Debian's own Python. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { proxyWithLogin, type Ask, type Tell, type Told } from './ask.js';
import { cleanEnv } from './programs.js';

/** Where the script of a client is. */
export function pythonScript(name: string): string {
  return join(import.meta.dirname, 'python', `ask_${name}.py`);
}

/** An ask in the words of python/job.py. */
function jsonOf(ask: Ask): object {
  const { url, upload, message, login } = ask;
  return {
    ...{ url, upload, message },
    proxy: proxyWithLogin(ask),
    bareProxy: ask.proxy,
    login: login === null ? null : `${login.username}:${login.password}`,
    ca: ask.certificate.caPath,
  };
}

/** The client whose script is `python/ask_<name>.py`. Rejects with what the script printed when it fails. */
export function pythonClient(name: string): Tell {
  return (asks) =>
    new Promise<Told[]>((resolve, reject) => {
      const options = { env: { ...cleanEnv, PYTHONDONTWRITEBYTECODE: '1' }, maxBuffer: 64 << 20 };
      const child = execFile('/usr/bin/python3', [pythonScript(name)], options, (error, stdout, stderr) => {
        if (error === null) resolve(JSON.parse(stdout) as Told[]);
        else reject(new Error(`${name}: ${stderr}`, { cause: error }));
      });
      child.stdin?.end(JSON.stringify(asks.map(jsonOf)));
    });
}
