/** new-api. Not tried: written from the HTTP API of its console in 1.0. */
import { join } from 'node:path';
import { emptied } from '../folder.ts';
import type { Running } from '../processes.ts';
import { MODEL } from '../requests.ts';
import { bearer, launch, type Peer, PLENTY, until } from './peer.ts';

export const newApi: Peer = {
  name: 'new-api',
  title: 'new-api',
  variable: 'TURNPIKE_BENCH_NEW_API',
  command: 'new-api',
  does: 'key with a quota, log in SQLite, memory cache, batched updates',
  lacks: 'quotas are written some seconds after the answer; it listens on all addresses.',
  async open(program, port, upstream, folder) {
    const home = emptied(folder);
    const running = launch([program, '--port', `${port}`, '--log-dir', join(home, 'logs')], home, {
      PORT: `${port}`,
      SQLITE_PATH: join(home, 'new-api.db'),
      SESSION_SECRET: 'a secret of the bench',
      MEMORY_CACHE_ENABLED: 'true',
      BATCH_UPDATE_ENABLED: 'true',
      GIN_MODE: 'release',
      GLOBAL_API_RATE_LIMIT_ENABLE: 'false',
      GLOBAL_WEB_RATE_LIMIT_ENABLE: 'false',
      CRITICAL_RATE_LIMIT_ENABLE: 'false',
    });
    try {
      return { running, headers: [bearer(await newApiKey(running, port, upstream))] };
    } catch (error) {
      await running.stop();
      throw error;
    }
  },
};

/** Creates the administrator, a channel and a key with a quota, through the API of its console. Returns the key. */
async function newApiKey(running: Running, port: number, upstream: number): Promise<string> {
  const origin = `http://127.0.0.1:${port}`;
  await until(running, async () => (await fetch(`${origin}/api/status`)).ok);
  let session: Record<string, string> = {};
  const api = async (method: string, path: string, body?: object): Promise<NewApiAnswer> => {
    const answer = await fetch(`${origin}/api/${path}`, {
      method,
      headers: { 'content-type': 'application/json', ...session },
      ...(body && { body: JSON.stringify(body) }),
    });
    const found = (await answer.json()) as NewApiAnswer & { readonly success: boolean; readonly message: string };
    if (!found.success) throw new Error(`new-api: ${method} ${path}: ${found.message}`);
    const cookie = answer.headers.getSetCookie()[0]?.split(';')[0];
    if (cookie !== undefined) session = { ...session, cookie };
    return found;
  };
  const root = { username: 'root', password: 'bench-password' };
  await api('POST', 'setup', { ...root, confirmPassword: root.password });
  const { data: user } = await api('POST', 'user/login', root);
  session = { ...session, 'new-api-user': `${user?.id}` };
  const channel = { type: 1, name: 'vendor', key: 'vendor-key', base_url: `http://127.0.0.1:${upstream}` };
  await api('POST', 'channel/', {
    mode: 'single',
    channel: { ...channel, models: MODEL, group: 'default', groups: ['default'], status: 1 },
  });
  const key = { name: 'bench', remain_quota: PLENTY, unlimited_quota: false, expired_time: -1, group: 'default' };
  await api('POST', 'token/', key);
  const { data: list } = await api('GET', 'token/?p=1&size=10');
  const { data: secret } = await api('POST', `token/${list?.items?.[0]?.id}/key`);
  return `sk-${secret?.key?.replace(/^sk-/, '')}`;
}

interface NewApiAnswer {
  readonly data?: { readonly id?: number; readonly key?: string; readonly items?: readonly { readonly id: number }[] };
}
