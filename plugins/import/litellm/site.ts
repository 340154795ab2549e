/**
 * The models and settings of one site of LiteLLM: its config.yaml and its database belong together. Aliases and fallbacks of one name models
 * of the other. Facts: BerriAI/litellm 1.110.2, litellm/router.py (`model_group_alias`, `fallbacks`, `default_fallbacks`).
 */
import type { ForeignModel, Note } from '../inventory.ts';
import { asObject, asTexts, type Row, textOf } from '../values.ts';
import type { CostMap } from './cost-map.ts';
import { type Deployment, type Deployments, type RecordedPrice, readDeployments } from './deployments.ts';
import { marginsOf } from './margins.ts';
import { PROVIDERS } from './providers.ts';
import type { Published } from './published.ts';
import { type FoundSettings, readSettings, type Settings } from './settings.ts';

/** What is known of a site. */
export interface Site {
  readonly deployments: readonly Deployment[];
  readonly settings: Settings;
  readonly credentials: ReadonlyMap<string, Row>;
  readonly teams: ReadonlyMap<string, string>;
  readonly teamNames: ReadonlyMap<string, readonly string[]>;
  readonly recorded: ReadonlyMap<string, RecordedPrice>;
  readonly published: Published | undefined;
  readonly costMap: CostMap | undefined;
  /** It is LiteLLM before 1.103. */
  readonly isEarly?: boolean;
}

/** What it becomes. */
export interface FoundSite extends Omit<FoundSettings, 'notes'> {
  readonly upstreams: Deployments;
  readonly aliases: Map<string, string>;
  readonly notes: readonly Note[];
}

/** Reads it. */
export function readSite(site: Site): FoundSite {
  const { deployments, settings } = site;
  const { router, litellm } = settings;
  const strategy = textOf(router, 'routing_strategy') ?? 'simple-shuffle';
  const margins = marginsOf(litellm);
  const upstreams = readDeployments(deployments, {
    ...site,
    variables: settings.variables,
    margins,
    isWeighted: strategy === 'simple-shuffle',
  });
  const notes = margins.unread.map((name): Note => {
    const where = `litellm_settings.${name}`;
    return { kind: 'decide', where, what: name, why: 'it cannot be read, and prices are without it' };
  });
  const written = { ...asObject(litellm.model_alias_map), ...asObject(router.model_group_alias) };
  // Other names are for everybody, so what is behind them is, too.
  const common = new Set(upstreams.names.flatMap(({ name, team }) => (team === undefined ? name : [])));
  const aliases = aliasesOf(written, upstreams.models, common, notes);
  addFallbacks(settings, upstreams.models, aliases, notes);
  const used = new Set([
    ...[...JSON.stringify(deployments).matchAll(/os\.environ\/(\w+)/g)].map(([, name]) => name!),
    ...Object.values(PROVIDERS).flatMap(({ variable, bases }) => [variable, ...bases]),
    'AZURE_API_VERSION',
  ]);
  const found = readSettings(settings, used);
  return { ...found, upstreams, aliases, notes: [...upstreams.left, ...notes, ...found.notes] };
}

/** `model_group_alias`: a name, or an object with the name and whether lists hide it. */
function aliasesOf(
  written: Row,
  models: ReadonlyMap<string, ForeignModel>,
  common: ReadonlySet<string>,
  notes: Note[],
): Map<string, string> {
  const aliases = new Map<string, string>();
  const where = 'router_settings.model_group_alias';
  for (const [alias, target] of Object.entries(written)) {
    const model = typeof target === 'string' ? target : textOf(asObject(target), 'model');
    const what = `alias ${alias}`;
    if (model === undefined || !models.has(model) || !common.has(model))
      notes.push({ kind: 'left', where, what, why: `there is no model ${model ?? ''}` });
    else if (models.has(alias)) notes.push({ kind: 'left', where, what, why: 'there is a model with this name' });
    else {
      aliases.set(alias, model);
      if (asObject(target).hidden === true)
        notes.push({ kind: 'changed', where, what, why: 'it was hidden there; lists of models have it here' });
    }
  }
  return aliases;
}

/** `fallbacks`: a list of objects from a model, or `*`, to others. */
function addFallbacks(
  { router, litellm }: Settings,
  models: Map<string, ForeignModel>,
  aliases: ReadonlyMap<string, string>,
  notes: Note[],
): void {
  const where = 'fallbacks';
  const entries = [router.fallbacks, litellm.fallbacks].flatMap((list) =>
    Array.isArray(list) ? list.flatMap((each) => Object.entries(asObject(each))) : [],
  );
  const usable = (name: string, targets: unknown): readonly string[] => {
    const all = Array.isArray(targets) ? targets : [];
    const known = asTexts(all).filter((target) => models.has(target) || aliases.has(target));
    const missing = all.map((each) => (typeof each === 'string' ? each : JSON.stringify(each)));
    for (const target of missing.filter((each) => !known.includes(each)))
      notes.push({ kind: 'left', where, what: `fallbacks of ${name}`, why: `there is no model ${target}` });
    return known;
  };
  const own = new Set<string>();
  const usual = [router.default_fallbacks, litellm.default_fallbacks].flatMap((list) =>
    list === undefined ? [] : usable('all models', list),
  );
  for (const [name, targets] of entries) {
    if (name === '*') {
      usual.push(...usable('all models', targets));
      continue;
    }
    const model = models.get(name);
    const fallback = usable(name, targets);
    if (model === undefined)
      notes.push({ kind: 'left', where, what: `fallbacks of ${name}`, why: 'there is no such model' });
    else if (fallback.length > 0) {
      own.add(name);
      models.set(name, { ...model, fallback: [...new Set([...(model.fallback ?? []), ...fallback])] });
    }
  }
  if (usual.length === 0) return;
  for (const [name, model] of models) {
    const fallback = [...new Set(usual)].filter((each) => each !== name);
    if (!own.has(name) && fallback.length > 0) models.set(name, { ...model, fallback });
  }
}
