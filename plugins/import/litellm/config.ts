/** Reads LiteLLM's `config.yaml`. */
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { EMPTY, type Source } from '../inventory.ts';
import { asObject, type Row, textOf } from '../values.ts';
import { readCostMap } from './cost-map.ts';
import type { Deployment } from './deployments.ts';
import type { Published } from './published.ts';
import { merged, type Settings } from './settings.ts';
import { readSite } from './site.ts';

/** Parts of the file that are read one by one. */
const PARTS = new Set([
  ...[
    'model_list',
    'general_settings',
    'router_settings',
    'litellm_settings',
    'environment_variables',
    'credential_list',
  ],
]);

/** Such a file. */
export interface ConfigFile {
  readonly deployments: readonly Deployment[];
  readonly credentials: ReadonlyMap<string, Row>;
  readonly settings: Settings;
}

/** Such a file as a source. It has no users and no calls. */
export function liteLlmFile(file: string, published?: Published, costsFile?: string): Source {
  return {
    program: 'litellm',
    family: 'litellm',
    async inventory() {
      const none = new Map<string, never>();
      const { upstreams, aliases, sections, notes } = readSite({
        ...readConfig(file),
        teams: none,
        teamNames: none,
        recorded: none,
        published,
        costMap: costsFile === undefined ? undefined : readCostMap(costsFile),
      });
      const { channels, models, groups } = upstreams;
      return { ...EMPTY, channels, models, groups, aliases, sections, notes };
    },
    async *usage() {},
    async *history() {},
    close: async () => {},
  };
}

/** Reads the file. */
export function readConfig(file: string): ConfigFile {
  let config: Row;
  try {
    config = asObject(parse(readFileSync(file, 'utf8')));
  } catch (error) {
    throw new Error(`${file} cannot be read: ${(error as Error).message.split('\n')[0]}`);
  }
  if (!['model_list', 'general_settings', 'litellm_settings', 'router_settings'].some((part) => part in config))
    throw new Error(`${file} is not a config.yaml of LiteLLM: it has no list model_list`);
  const models = Array.isArray(config.model_list) ? config.model_list.map(asObject) : [];
  const credentials = Array.isArray(config.credential_list) ? config.credential_list.map(asObject) : [];
  const variables = Object.entries(asObject(config.environment_variables));
  return {
    deployments: models.map((row) => ({
      where: 'model_list',
      name: textOf(row, 'model_name') ?? '',
      params: asObject(row.litellm_params),
      info: asObject(row.model_info),
    })),
    credentials: new Map(
      credentials.map((row) => [textOf(row, 'credential_name') ?? '', asObject(row.credential_values)]),
    ),
    settings: {
      general: asObject(config.general_settings),
      router: asObject(config.router_settings),
      litellm: asObject(config.litellm_settings),
      variables: new Map(variables.map(([name, value]) => [name, String(value)])),
      sso: {},
      others: Object.fromEntries(Object.entries(config).filter(([part]) => !PARTS.has(part))),
    },
  };
}

/** The settings of the database over those of the file. */
export function mergedSettings(file: Settings, database: Settings): Settings {
  return {
    general: merged(file.general, database.general),
    router: merged(file.router, database.router),
    litellm: merged(file.litellm, database.litellm),
    variables: new Map([...file.variables, ...database.variables]),
    sso: merged(file.sso, database.sso),
    others: merged(file.others, database.others),
  };
}

/** Those of a site without a file. */
export const NO_FILE: ConfigFile = {
  deployments: [],
  credentials: new Map(),
  settings: { general: {}, router: {}, litellm: {}, variables: new Map(), sso: {}, others: {} },
};
