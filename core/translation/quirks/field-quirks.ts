/** Top-level fields that a vendor does not accept, names differently or requires: applied last to a body. */

import { isEmpty } from '../../bytes/fields.ts';
import type { Json, JsonBody, JsonObject } from '../../contracts/formats/json.ts';
import type { Quirks } from '../../contracts/formats/quirks.ts';
import type { Warnings } from '../../contracts/formats/warnings.ts';
import { ROUTING } from './ruled-fields.ts';
import { isNeutral } from './sampling.ts';

type FieldQuirks = Pick<Quirks, 'drop_fields' | 'rename_fields' | 'set_fields' | 'routing_fields'>;

/** The fields to remove. */
function removed({ drop_fields: drop, routing_fields: allowed }: FieldQuirks): readonly string[] {
  return [...drop, ...(allowed.length === 0 ? ROUTING : ROUTING.filter((name) => !allowed.includes(name)))];
}

/**
 * For a forwarded body: the style's own changes, and these. Noticeable ones are reported as warnings; a field that is
 * `null` counts as missing. If a field is present under both names, the vendor's own counts.
 */
export function fieldChanges(
  body: JsonBody,
  changes: Readonly<Record<string, string | undefined>>,
  quirks: FieldQuirks,
  warnings: Warnings,
): Readonly<Record<string, string | undefined>> {
  const { rename_fields: rename, set_fields: set } = quirks;
  const drop = removed(quirks).filter((name) => body.has(name));
  if (drop.length === 0 && isEmpty(rename) && isEmpty(set)) return changes;
  const renamed = Object.entries(rename);
  const added = Object.entries(set);
  const all: Record<string, string | undefined> = { ...changes };
  const isSaid = (name: string): boolean => (body.get(name) ?? null) !== null;
  for (const name of drop) {
    all[name] = undefined;
    if (isSaid(name)) warnings.leave(name, LABELS.has(name) || isNeutral(name, body.get(name)) ? 'hint' : undefined);
  }
  for (const [name, other] of renamed) {
    const span = body.members.get(name);
    const own = all[name];
    if (span === undefined && own === undefined) continue;
    const text = own ?? body.bytes.toString('utf8', span!.start, span!.end);
    all[name] = undefined;
    if (own === undefined && !isSaid(name)) continue;
    if (isSaid(other)) {
      warnings.leave(name);
    } else {
      all[other] = text;
      warnings.change(name, 'hint');
    }
  }
  for (const [name, value] of added) {
    all[name] = JSON.stringify(value);
    if (isSaid(name) && JSON.stringify(body.get(name)) !== all[name]) warnings.change(name);
  }
  return all;
}

/** Fields that do not affect the answer, in all styles. */
const LABELS: ReadonlySet<string> = new Set([
  'metadata',
  'prompt_cache_key',
  'prompt_cache_options',
  'prompt_cache_retention',
  'safety_identifier',
  'service_tier',
  'store',
  'stream_options',
  'user',
]);

/** For an encoded body; fields that it contains and the vendor does not accept are reported as warnings. */
export function withFieldQuirks(body: JsonObject, quirks: FieldQuirks, warnings: Warnings): JsonObject {
  const { rename_fields: rename, set_fields: set } = quirks;
  const drop = removed(quirks).filter((name) => Object.hasOwn(body, name));
  if (drop.length === 0 && isEmpty(rename) && isEmpty(set)) return body;
  const result: Record<string, Json> = {};
  for (const [name, value] of Object.entries(body)) {
    if (drop.includes(name)) warnings.drop(name, LABELS.has(name) ? 'hint' : undefined);
    else result[Object.hasOwn(rename, name) ? rename[name]! : name] = value;
  }
  return { ...result, ...(set as JsonObject) };
}
