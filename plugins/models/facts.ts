/** What is known of a model, for people who choose one. What nobody says stays unsaid. */
import { ABILITIES, type Ability, type ModelFacts, type Purpose } from '../../core/contracts/catalog.ts';
import type { Style, StyleName } from '../../core/plugin.ts';
import type { SomeQuirks } from '../../core/translation/index.ts';
import { answers, type ModelCatalog } from './catalog.ts';
import type { Health } from './health.ts';
import type { Recent } from './recent.ts';
import type { Source } from './source.ts';

/** What the styles that ship are for; of any other, nobody knows. */
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

/** Parts of quirks that only models of one purpose have. */
const TELLING = ['embeddings', 'images', 'speech'] as const satisfies readonly Purpose[];

/** What the facts are gathered from. */
export interface FactTools {
  readonly catalog: ModelCatalog;
  readonly health: Health;
  readonly recent: Recent;
  readonly styles: ReadonlyMap<StyleName, Style>;
}

/** All that is known of the model behind a name. */
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

/** What holds wherever the model is served; undefined where nobody knows. */
export function smallest(limits: readonly (number | undefined)[]): number | undefined {
  const known = limits.filter((limit) => limit !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}

/** What all places agree on. */
function abilitiesOf(from: readonly Source[]): ModelFacts['abilities'] {
  const each = from.map(({ said }) => abilitiesIn([...said.ofModel, said.ofChannel]));
  return Object.fromEntries(
    ABILITIES.flatMap((ability) => {
      const known = each[0]?.[ability];
      return known !== undefined && each.every((one) => one[ability] === known) ? [[ability, known]] : [];
    }),
  );
}

function abilitiesIn(said: readonly SomeQuirks[]): Partial<Record<Ability, boolean>> {
  const last = <T>(read: (quirks: SomeQuirks) => T | undefined): T | undefined =>
    said.reduce<T | undefined>((found, quirks) => read(quirks) ?? found, undefined);
  const thinks = last(({ reasoning }) => reasoning?.input);
  const found: Readonly<Record<Ability, boolean | undefined>> = {
    // Which types are taken is said of whole vendors; that none are, of a model.
    vision: last(({ image }) => image?.types)?.length === 0 ? false : last(({ image }) => image?.input),
    // One that is told how it calls tools can call them.
    tools: said.some(({ tools }) => tools?.parallel_flag || tools?.strict || tools?.web_search) || undefined,
    reasoning: thinks === undefined ? undefined : thinks !== 'none',
    structured_output: last(({ output }) => output?.json_schema),
    audio_input: last(({ audio }) => audio?.input),
    audio_output: last(({ audio }) => audio?.output),
  };
  return found as Partial<Record<Ability, boolean>>;
}

/** By the channels alone; which of them a call would be led to depends on its key. */
function healthOf(name: string, catalog: ModelCatalog, health: Health): ModelFacts['health'] {
  const [own, ...fallbacks] = catalog
    .chain(name)
    .map(({ from }) => from.map(({ channel, model }) => health.look(channel, model).state));
  if (own!.every((state) => state === 'closed')) return 'well';
  return [own!, ...fallbacks].flat().some((state) => state !== 'open') ? 'degraded' : 'down';
}
