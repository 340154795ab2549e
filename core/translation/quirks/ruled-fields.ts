/**
 * Members of requests that prices, limits and scopes depend on, at the top level. Some vendors read them in other places or ignore case, which would
 * make them serve something else than what is checked.
 */

import { isObject } from '../../bytes/fields.ts';
import { invalidField } from '../../contracts/errors.ts';
import type { JsonBody } from '../../contracts/formats/json.ts';

/**
 * With these, a client makes a vendor serve another model than the one that is checked and priced, or from another provider. They are removed
 * unless `routing_fields` allows them.
 */
export const ROUTING: readonly string[] = [
  ...['models', 'route', 'provider', 'providerOptions', 'fallback', 'fallbacks', 'fallback_models', 'preset'],
  ...['model_list', 'router_settings_override', 'specific_deployment', 'deployment_id', 'custom_llm_provider'],
  ...['user_config', 'api_base', 'base_url', 'api_key'],
];

/** With these, a client makes a vendor search, or run something else that it bills. */
export const SEARCHING: readonly string[] = [
  ...['plugins', 'web_search_options', 'enable_search', 'search_parameters', 'data_sources', 'dataSources'],
  ...['web_search', 'enable_web_search', 'use_web_search', 'online', 'enable_enhancement'],
  ...['force_search_enhancement', 'compound_custom'],
];

/** By their folded names. */
const RULED: ReadonlyMap<string, string> = new Map(
  [
    ...['model', 'stream', 'n', 'best_of', 'max_tokens', 'max_completion_tokens', 'max_output_tokens'],
    ...['service_tier', 'speed', 'inference_geo', 'tools', 'functions', 'tool_choice', 'max_tool_calls'],
    ...['previous_response_id', 'conversation', 'prompt', 'thread', 'container', 'mcp_servers', 'background'],
    ...ROUTING,
    ...SEARCHING,
  ].map((name) => [fold(name), name]),
);

/** Folded names that are not their own spelling. */
const CAPITALIZED: ReadonlySet<string> = new Set(
  [...RULED].flatMap(([folded, name]) => (folded === name ? [] : [folded])),
);

/** Refuses with 400 such a member that is spelt differently, or is in `extra_body`. */
export function checkPlaces(body: JsonBody): void {
  for (const name of body.members.keys()) {
    if (isFolded(name) && !CAPITALIZED.has(name)) continue;
    const ruled = RULED.get(fold(name));
    if (ruled !== undefined && ruled !== name) throw invalidField(name, `must be spelt \`${ruled}\``);
  }
  const extra = body.has('extra_body') ? body.get('extra_body') : undefined;
  if (!isObject(extra)) return;
  const ruled = Object.keys(extra).find((name) => RULED.has(fold(name)));
  if (ruled !== undefined) throw invalidField(`extra_body.${ruled}`, 'must be a member of the request itself');
}

/** Whether it is its own folded name, as nearly all are: only small letters, digits and underscores. */
function isFolded(name: string): boolean {
  for (let i = 0; i < name.length; i++) {
    const code = name.charCodeAt(i);
    if (!((code >= 0x61 && code <= 0x7a) || code === 0x5f || (code >= 0x30 && code <= 0x39))) return false;
  }
  return true;
}

/** Upper case first: it folds characters that have two lower-case forms, such as the long s. Forms have lists as `models[]`. */
function fold(name: string): string {
  return name.replace(/\[.*$/, '').toUpperCase().toLowerCase();
}
