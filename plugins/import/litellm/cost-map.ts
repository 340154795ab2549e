/**
 * LiteLLM's cost map (`model_prices_and_context_window.json`): what it charges for a deployment that states no costs. It is in no database; an
 * operator saves that of the running proxy (`GET /public/litellm_model_cost_map`). Facts: BerriAI/litellm 1.110.2, litellm/utils.py
 * (`get_potential_model_names`, `_model_cost_lookup_order`, `_check_provider_match`).
 */
import { readFileSync } from 'node:fs';
import { asObject, type Row, textOf } from '../values.ts';

/** Such a map. */
export interface CostMap {
  /** The costs of a model of a provider, by all names that it may have there; undefined: the map does not have it. */
  of(provider: string, model: string): Row | undefined;
  /** The models of a provider, as it names them, with their costs. */
  models(provider: string): readonly (readonly [string, Row])[];
  /** The entry of a name, whichever provider it is of. */
  named(name: string): Row | undefined;
}

/** Providers whose models may be in the map as those of any other. */
const OF_ANY = new Set(['litellm_proxy', 'github', 'nadir']);

/** Reads such a file. */
export function readCostMap(file: string): CostMap {
  let read: unknown;
  try {
    read = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new Error(`${file} cannot be read: ${(error as Error).message.split('\n')[0]}`);
  }
  const map = costMapOf(asObject(read));
  if (map === undefined)
    throw new Error(
      `${file} is not a cost map of LiteLLM: no entry has \`litellm_provider\` and \`input_cost_per_token\``,
    );
  return map;
}

/** Such a map of its entries by name; undefined if they are none of it. */
export function costMapOf(entries: Row): CostMap | undefined {
  const isMap = Object.values(entries).some(
    (entry) => 'litellm_provider' in asObject(entry) && 'input_cost_per_token' in asObject(entry),
  );
  if (!isMap) return undefined;
  // It finds names in other capital letters, too.
  const byName = new Map(Object.entries(entries).map(([name, entry]) => [name.toLowerCase(), asObject(entry)]));
  for (const [name, entry] of Object.entries(entries)) byName.set(name, asObject(entry));
  const named = (name: string): Row | undefined => byName.get(name) ?? byName.get(name.toLowerCase());
  return {
    named,
    models: (provider) =>
      Object.entries(entries).flatMap(([name, entry]) =>
        textOf(asObject(entry), 'litellm_provider') !== provider
          ? []
          : [[name.startsWith(`${provider}/`) ? name.slice(provider.length + 1) : name, asObject(entry)] as const],
      ),
    of(provider, model) {
      let plain = model;
      while (plain.startsWith(`${provider}/`)) plain = plain.slice(provider.length + 1);
      const stripped = strippedName(plain, provider);
      const names = [`${provider}/${plain}`, model, plain, `${provider}/${stripped}`, stripped];
      // A provider's own names may begin with its word.
      const all = [...names, `${provider}/${model}`, ...(provider === 'together_ai' ? sizesOf(plain) : [])];
      return all.map(named).find((entry) => entry !== undefined && isOf(entry, provider));
    },
  };
}

/** Entries of the map for models of Together by billions of parameters, or millions of an embedding model. */
const SIZES: readonly (readonly [RegExp, readonly (readonly [number, string])[]])[] = [
  [
    /(\d+)b/,
    [
      [4, 'together-ai-up-to-4b'],
      [8, 'together-ai-4.1b-8b'],
      [21, 'together-ai-8.1b-21b'],
      [41, 'together-ai-21.1b-41b'],
      [80, 'together-ai-41.1b-80b'],
      [110, 'together-ai-81.1b-110b'],
    ],
  ],
  [
    /(\d+)m/,
    [
      [150, 'together-ai-embedding-up-to-150m'],
      [350, 'together-ai-embedding-151m-to-350m'],
    ],
  ],
];

/** The names of the entries that a model without one of its own has by its size. */
function sizesOf(model: string): readonly string[] {
  return SIZES.flatMap(([pattern, sizes]) => {
    const count = Number(pattern.exec(model.toLowerCase())?.[1] ?? Number.NaN);
    return sizes.find(([most]) => count <= most)?.[1] ?? [];
  });
}

/** A name without the date of its version, or what a fine-tuned model has behind its base. */
function strippedName(model: string, provider: string): string {
  if (provider === 'gemini' || provider === 'databricks') return model.replace(/-\d+$/, '');
  if (model.includes('ft:')) return model.replace(/(?::[^:]*){3}$/, '');
  return model.replace(/-\d{4}-\d{2}-\d{2}$/, '');
}

function isOf(entry: Row, provider: string): boolean {
  const of = textOf(entry, 'litellm_provider');
  return (
    of === undefined ||
    of === provider ||
    OF_ANY.has(provider) ||
    (provider === 'fireworks_ai' && of.startsWith(provider))
  );
}
