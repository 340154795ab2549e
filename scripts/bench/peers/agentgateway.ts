/** agentgateway. Not tried: written from the documentation of 1.5. */
import { dirname } from 'node:path';
import { stringify } from 'yaml';
import { freePort } from '../../free-port.ts';
import { write } from '../folder.ts';
import { MODEL } from '../requests.ts';
import { bearer, KEY, launch, type Peer } from './peer.ts';

export const agentgateway: Peer = {
  name: 'agentgateway',
  title: 'agentgateway',
  variable: 'TURNPIKE_BENCH_AGENTGATEWAY',
  command: 'agentgateway',
  does: 'API key, one model',
  lacks: 'no ledger; budgets of keys, which 1.5 has, are not configured; it listens on all addresses.',
  async open(program, port, upstream, folder) {
    const local = async (): Promise<string> => `127.0.0.1:${await freePort()}`;
    const config = write(
      `${folder}/config.yaml`,
      stringify({
        config: {
          adminAddr: await local(),
          statsAddr: await local(),
          readinessAddr: await local(),
          workerThreads: 1,
          logging: { level: 'error' },
        },
        llm: {
          port,
          policies: { apiKey: { mode: 'strict', keys: [{ key: KEY }] } },
          models: [
            {
              name: MODEL,
              provider: 'openAI',
              params: { model: MODEL, baseUrl: `http://127.0.0.1:${upstream}/v1`, apiKey: 'vendor-key' },
            },
          ],
        },
      }),
    );
    return { running: launch([program, '-f', config], dirname(config)), headers: [bearer(KEY)] };
  },
};
