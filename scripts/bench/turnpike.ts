/**
 * Turnpike as a user would start it: the pipeline of the shipped gateway.yaml, priced models, limits that are counted
 * and never reached.
 */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parse, stringify } from 'yaml';
import { freePort } from '../free-port.ts';
import { emptied, ROOT, write } from './folder.ts';
import { CORE, onCore } from './machine.ts';
import { run, start } from './processes.ts';
import { MODEL } from './requests.ts';
import { type Server, serverOf, type Variant } from './variants.ts';

/** Node's flags as in `npm start`. */
const FLAGS = (
  /node ((?:--\S+ )*)scripts\/turnpike\.mjs start/.exec(
    (JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { readonly scripts: { readonly start: string } })
      .scripts.start,
  )?.[1] ?? ''
)
  .split(' ')
  .filter((flag) => flag !== '');

/** Never reached in a bench. */
const UNREACHED = 1_000_000_000;

export const turnpike: Variant = {
  name: 'turnpike',
  title: 'Turnpike',
  start: async (upstream) => (await prepareTurnpike(oneModel(upstream))).start(),
};

/** The channel of each model. */
export type Models = Readonly<Record<string, object>>;

/** One model of a vendor that listens on this port. */
export function oneModel(upstream: number): Models {
  return { [MODEL]: chatChannel(upstream) };
}

/** A channel to a chat vendor on this port. */
export function chatChannel(upstream: number): object {
  return { vendor: 'compatible', url: `http://127.0.0.1:${upstream}/v1`, key: 'vendor-key' };
}

/** The vendor styles. */
export type SpokenStyle = 'chat' | 'messages' | 'responses' | 'gemini';

/** Models of a vendor that supports every style; they are named after the style. */
export function everyStyle(upstream: number): Models {
  const url = `http://127.0.0.1:${upstream}/v1`;
  const key = 'vendor-key';
  return {
    chat: { vendor: 'compatible', speaks: ['chat'], url, key },
    messages: { vendor: 'compatible', speaks: ['messages'], url, key },
    responses: { vendor: 'compatible', speaks: ['responses'], url, key },
    gemini: { vendor: 'gemini', url, key },
  } satisfies Record<SpokenStyle, object>;
}

/** A gateway.yaml and its database, which can be started repeatedly. */
export interface Installation {
  readonly storeFile: string;
  /** Uses the key of the first start, unless another is given. `cores`: its CPU cores. `flags`: of Node. `node`: the executable of another version. */
  start(options?: {
    readonly key?: string;
    readonly cores?: string;
    readonly flags?: readonly string[];
    readonly node?: string;
  }): Promise<Server>;
  /** Whether this Turnpike accepts the configuration. */
  isAccepted(): Promise<boolean>;
}

/** Creates a new one. `listen`: in addition to the address. `store`: instead of its own database. `more`: further sections. */
export async function prepareTurnpike(
  models: Models,
  listen: Readonly<Record<string, unknown>> = {},
  store?: Readonly<Record<string, unknown>>,
  more: Readonly<Record<string, unknown>> = {},
): Promise<Installation> {
  const port = await freePort();
  const shipped = parse(readFileSync(join(ROOT, 'gateway.yaml'), 'utf8')) as {
    readonly pipeline: readonly string[];
    readonly limits: Limits;
  };
  const storeFile = join(emptied(`data-${port}`), store === undefined ? 'turnpike.db' : 'turnpike');
  const names = Object.keys(models);
  const config = write(
    `data-${port}/gateway.yaml`,
    stringify({
      listen: { host: '127.0.0.1', port, ...listen },
      store: store === undefined ? { driver: 'sqlite', file: storeFile } : { ...store, data: dirname(storeFile) },
      pipeline: shipped.pipeline,
      limits: unreached(shipped.limits),
      channels: names.map((model) => ({ name: `mock-${model}`, ...models[model] })),
      models: Object.fromEntries(
        names.map((model) => [model, { from: [`mock-${model}`], price: { input: 0.15, output: 0.6 } }]),
      ),
      ...more,
    }),
  );
  const command = join(ROOT, 'scripts/turnpike.mjs');
  let firstKey: string | undefined;
  return {
    storeFile,
    async start({ key, cores = CORE.server, flags = [], node = process.execPath } = {}) {
      const running = start(onCore(cores, [node, ...FLAGS, ...flags, command, 'start', '--config', config]));
      if (firstKey === undefined && key === undefined)
        firstKey = (await running.says(/"key":"(sk-\w+)"[\s\S]*ready http/))[1]!;
      else await running.says(/ready http/);
      return serverOf(running, port, [`authorization: Bearer ${key ?? firstKey}`]);
    },
    isAccepted: () =>
      run([process.execPath, command, 'check', '--config', config]).then(
        () => true,
        () => false,
      ),
  };
}

interface Limits {
  readonly [option: string]: number | Limits;
}

/** Limits that are counted and never reached. */
function unreached(limits: Limits): Limits {
  return Object.fromEntries(
    Object.entries(limits).map(([option, limit]) => [option, typeof limit === 'number' ? UNREACHED : unreached(limit)]),
  );
}
