/** Bifrost. Not tried: written from the documentation of 2.0. */
import { join } from 'node:path';
import { emptied, write } from '../folder.ts';
import { KEY, launch, type Peer, PLENTY } from './peer.ts';

export const bifrost: Peer = {
  name: 'bifrost',
  title: 'Bifrost',
  variable: 'TURNPIKE_BENCH_BIFROST',
  command: 'bifrost-http',
  does: 'virtual key, budget, log in SQLite',
  lacks: 'no charges: it downloads its list of prices, so that its budget is checked for calls that cost nothing.',
  async open(program, port, upstream, folder) {
    const home = emptied(folder);
    const sqlite = (file: string): object => ({ enabled: true, type: 'sqlite', config: { path: join(home, file) } });
    write(
      `${folder}/config.json`,
      JSON.stringify({
        client: { enforce_auth_on_inference: true, enable_logging: true, drop_excess_requests: false },
        providers: {
          openai: {
            keys: [{ name: 'vendor', value: 'vendor-key', models: ['*'], weight: 1 }],
            network_config: { base_url: `http://127.0.0.1:${upstream}` },
          },
        },
        governance: {
          virtual_keys: [
            {
              id: 'bench',
              name: 'bench',
              value: KEY,
              is_active: true,
              provider_configs: [{ provider: 'openai', allowed_models: ['*'], key_ids: ['*'], weight: 1 }],
            },
          ],
          budgets: [{ id: 'plenty', max_limit: PLENTY, reset_duration: '1M', virtual_key_id: 'bench' }],
        },
        config_store: sqlite('config.db'),
        logs_store: sqlite('logs.db'),
      }),
    );
    const options = ['-host', '127.0.0.1', '-port', `${port}`, '-app-dir', home, '-log-level', 'error'];
    return {
      running: launch([program, ...options], home),
      headers: [`x-bf-vk: ${KEY}`],
      // Accepts a model without the prefix of its provider, so that the request is that of all others.
      path: '/openai/v1/chat/completions',
    };
  },
};
