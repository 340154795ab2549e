/** LiteLLM, from PyPI in a virtual environment. Tried: 1.108.7. */
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { stringify } from 'yaml';
import { write } from '../folder.ts';
import { run } from '../processes.ts';
import { MODEL } from '../requests.ts';
import { bearer, KEY, launch, type Peer } from './peer.ts';

const LITELLM = { package: 'litellm[proxy]', version: '1.108.7', folder: 'TURNPIKE_BENCH_LITELLM_FOLDER' } as const;

export const litellm: Peer = {
  name: 'litellm',
  title: 'LiteLLM',
  variable: 'TURNPIKE_BENCH_LITELLM',
  command: 'litellm',
  does: 'master key, its list of prices',
  lacks:
    'no keys of users, no budgets, no spend log: they need PostgreSQL and an engine of Prisma, which is downloaded.',
  async install() {
    const folder = process.env[LITELLM.folder] ?? join(homedir(), '.cache/turnpike-bench/litellm');
    const program = join(folder, 'bin/litellm');
    if (existsSync(program)) return program;
    await run(['python3', '-m', 'venv', folder]);
    const pip = [join(folder, 'bin/pip'), 'install', '--quiet', '--disable-pip-version-check'];
    await run([...pip, `${LITELLM.package}==${LITELLM.version}`]);
    return program;
  },
  async open(program, port, upstream, folder) {
    const config = write(
      `${folder}/config.yaml`,
      stringify({
        model_list: [
          {
            model_name: MODEL,
            litellm_params: {
              model: `openai/${MODEL}`,
              api_base: `http://127.0.0.1:${upstream}/v1`,
              api_key: 'vendor-key',
            },
          },
        ],
        general_settings: { master_key: KEY },
        litellm_settings: { telemetry: false },
      }),
    );
    const options = ['--host', '127.0.0.1', '--port', `${port}`, '--num_workers', '1', '--telemetry', 'False'];
    return { running: launch([program, '--config', config, ...options], dirname(config)), headers: [bearer(KEY)] };
  },
};
