/** The known properties of a model, for users who choose one. Unknown facts are left out. */
import { ABILITIES, type Ability, type ModelFacts, type Purpose } from '../../core/contracts/catalog.ts';
import type { Style, StyleName } from '../../core/plugin.ts';
import type { SomeQuirks } from '../../core/translation/index.ts';
import { answers, type ModelCatalog } from './catalog.ts';
import type { Health } from './health.ts';
import type { Recent } from './recent.ts';
import type { Source } from './source.ts';

/** The purpose of each built-in style; that of other styles is unknown. */
const PURPOSES: Readonly<Record<StyleName, Purpose>> = {
  chat: 'chat',
  completions: 'chat',
  responses: 'chat',
  messages: 'chat',
  gemini: 'chat',
  embeddings: 'embeddings',
  images: 'images',
  edits: 'images',
  speech: 'speech',
  transcription: 'transcription',
  translation: 'transcription',
};

/** Quirks that only models of one purpose have. */
const TELLING = ['embeddings', 'images', 'speech'] as const satisfies readonly Purpose[];

/** The sources of the facts. */
export interface FactTools {
  readonly catalog: ModelCatalog;
  readonly health: Health;
  readonly recent: Recent;
  readonly styles: ReadonlyMap<StyleName, Style>;
}

/** All facts about the model of a name. */
export function factsOf(name: string, { catalog, health, recent, styles }: FactTools): ModelFacts {
  const model = catalog.require(name);
  const { from } = model;
  const first = from.toSorted((a, b) => a.channel.priority - b.channel.priority)[0];
  const answered = [...styles.values()].filter(
    ({ name: style, ingress }) => ingress !== undefined && answers(model, style),
  );
  return {
    styles: answered.map(({ name: style }) => ({ name: style, native: first?.way(style)?.style === style })),
    asked: [...new Set(answered.flatMap(({ name: style }) => PURPOSES[style] ?? []))],
    meant: TELLING.filter((part) =>
      from.every(({ said }) => said.ofModel.some((quirks) => quirks[part] !== undefined)),
    ),
    context: smallest(from.map(({ limits }) => limits.context)),
    maxOutput: smallest(from.map(({ limits }) => limits.max_output)),
    abilities: abilitiesOf(from),
    health: healthOf(name, catalog, health),
    recent: recent.look(model.name),
  };
}

/** A fact that holds wherever the model is served; undefined if unknown. */
export function smallest(limits: readonly (number | undefined)[]): number | undefined {
  const common = limits.filter((limit) => limit !== undefined);
  return common.length === 0 ? undefined : Math.min(...common);
}

/** The common value of all targets. */
function abilitiesOf(from: readonly Source[]): ModelFacts['abilities'] {
  const each = from.map(({ said }) => abilitiesIn([...said.ofModel, said.ofChannel]));
  return Object.fromEntries(
    ABILITIES.flatMap((ability) => {
      const common = each[0]?.[ability];
      return common !== undefined && each.every((one) => one[ability] === common) ? [[ability, common]] : [];
    }),
  );
}

function abilitiesIn(said: readonly SomeQuirks[]): Partial<Record<Ability, boolean>> {
  const last = <T>(read: (quirks: SomeQuirks) => T | undefined): T | undefined =>
    said.reduce<T | undefined>((found, quirks) => read(quirks) ?? found, undefined);
  const thinks = last(({ reasoning }) => reasoning?.input);
  const found: Readonly<Record<Ability, boolean | undefined>> = {
    // Accepted media types are configured for whole vendors; that a model accepts none is configured for the model.
    vision: last(({ image }) => image?.types)?.length === 0 ? false : last(({ image }) => image?.input),
    // If it is configured how a model calls tools, it can.
    tools: said.some(({ tools }) => tools?.parallel_flag || tools?.strict || tools?.web_search) || undefined,
    reasoning: thinks === undefined ? undefined : thinks !== 'none',
    structured_output: last(({ output }) => output?.json_schema),
    audio_input: last(({ audio }) => audio?.input),
    audio_output: last(({ audio }) => audio?.output),
  };
  return found as Partial<Record<Ability, boolean>>;
}

/** By its channels alone; which of them serves a call depends on the key. */
function healthOf(name: string, catalog: ModelCatalog, health: Health): ModelFacts['health'] {
  const [own, ...fallbacks] = catalog
    .chain(name)
    .map(({ from }) => from.map(({ keys, model }) => health.look(keys.channels, model).state));
  if (own!.every((state) => state === 'closed')) return 'well';
  return [own!, ...fallbacks].flat().some((state) => state !== 'open') ? 'degraded' : 'down';
}
