/** Reads LiteLLM's `config.yaml`: deployments become channels and models, router settings aliases and fallbacks. */
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { EMPTY, type ForeignModel, type Inventory, type Left } from '../inventory.ts';
import { asObject, asTexts, type Row, textOf } from '../values.ts';
import { readDeployments } from './deployments.ts';

/** Everything in the file. */
export function readConfig(file: string): Inventory {
  let config: Row;
  try {
    config = asObject(parse(readFileSync(file, 'utf8')));
  } catch (error) {
    throw new Error(`${file} cannot be read: ${(error as Error).message.split('\n')[0]}`);
  }
  if (!Array.isArray(config.model_list))
    throw new Error(`${file} is not a config.yaml of LiteLLM: it has no list model_list`);
  const { channels, models, left } = readDeployments(config.model_list.map(asObject));
  const router = asObject(config.router_settings);
  const settings = asObject(config.litellm_settings);
  const aliases = aliasesOf(asObject(router.model_group_alias), models, left);
  addFallbacks([router.fallbacks, settings.fallbacks], models, aliases, left);
  leaveSettings(config, router, settings, left);
  return { ...EMPTY, channels, models, aliases, left };
}

/** `model_group_alias`: a name, or an object with the name and whether lists hide it. */
function aliasesOf(written: Row, models: ReadonlyMap<string, ForeignModel>, left: Left[]): Map<string, string> {
  const aliases = new Map<string, string>();
  for (const [alias, target] of Object.entries(written)) {
    const model = typeof target === 'string' ? target : textOf(asObject(target), 'model');
    if (model === undefined || !models.has(model))
      left.push({ what: `alias ${alias}`, why: `there is no model ${model ?? ''}` });
    else if (models.has(alias)) left.push({ what: `alias ${alias}`, why: 'there is a model with this name' });
    else aliases.set(alias, model);
  }
  return aliases;
}

/** `fallbacks`: a list of objects from a model to others. */
function addFallbacks(
  lists: readonly unknown[],
  models: Map<string, ForeignModel>,
  aliases: ReadonlyMap<string, string>,
  left: Left[],
): void {
  const entries = lists.flatMap((list) =>
    Array.isArray(list) ? list.flatMap((each) => Object.entries(asObject(each))) : [],
  );
  for (const [name, targets] of entries) {
    const model = models.get(name);
    const all = asTexts(targets);
    const fallback = all.filter((target) => models.has(target) || aliases.has(target));
    const missing = all.filter((target) => !fallback.includes(target));
    if (model === undefined) left.push({ what: `fallbacks of ${name}`, why: 'there is no such model' });
    else if (fallback.length > 0)
      models.set(name, { ...model, fallback: [...new Set([...(model.fallback ?? []), ...fallback])] });
    if (missing.length > 0) left.push({ what: `fallbacks of ${name}`, why: `there is no model ${missing.join(', ')}` });
  }
}

/** Router settings that have an equivalent, or are read elsewhere. */
const ROUTER = new Set([
  'model_group_alias',
  'fallbacks',
  'routing_strategy',
  'num_retries',
  'redis_host',
  'redis_port',
  'redis_password',
]);

function leaveSettings(config: Row, router: Row, settings: Row, left: Left[]): void {
  const general = asObject(config.general_settings);
  if (general.master_key !== undefined) {
    left.push({ what: 'general_settings.master_key', why: 'it is not imported: create a key for its clients' });
  }
  if (general.database_url !== undefined) {
    left.push({ what: 'general_settings.database_url', why: 'import the database, too: turnpike import litellm URL' });
  }
  const others = [
    ...Object.keys(general)
      .filter((name) => !['master_key', 'database_url'].includes(name))
      .map((name) => `general_settings.${name}`),
    ...Object.keys(router)
      .filter((name) => !ROUTER.has(name))
      .map((name) => `router_settings.${name}`),
    ...Object.keys(settings)
      .filter((name) => name !== 'fallbacks')
      .map((name) => `litellm_settings.${name}`),
    ...['guardrails', 'mcp_servers', 'environment_variables', 'credential_list', 'vector_store_registry'].filter(
      (name) => name in config,
    ),
  ];
  for (const what of others) left.push({ what, why: 'not imported: set it in gateway.yaml if you need it' });
}
