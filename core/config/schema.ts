/** The JSON Schema of gateway.yaml, for editors: they complete and check it while one writes. */
import type { Schema } from '../plugin.ts';

/** The schema of a file with these sections. Wherever it checks a text it also takes one that holds `${…}`. */
export function editorSchema(sections: Readonly<Record<string, Schema>>): object {
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'gateway.yaml',
    type: 'object',
    additionalProperties: false,
    properties: Object.fromEntries(Object.entries(sections).map(([name, schema]) => [name, section(schema)])),
  };
}

/** A name with nothing below it is a section that is not there. */
function section(schema: Schema): Definition {
  const definition = forEditors(schema);
  return definition.type === 'object' ? { ...definition, type: ['object', 'null'] } : definition;
}

type Definition = Readonly<Record<string, unknown>>;

/** Keywords by what they hold. */
const ofMaps = ['properties', 'patternProperties', 'definitions'];
const ofLists = ['anyOf', 'oneOf', 'allOf'];
const ofSchemas = ['items', 'additionalProperties'];
const annotations = ['title', 'description', 'default', 'examples'];

function forEditors(schema: Definition): Definition {
  const copied: Record<string, unknown> = { ...schema };
  for (const keyword of ofMaps) {
    const held = schema[keyword] as Readonly<Record<string, Definition>> | undefined;
    if (held)
      copied[keyword] = Object.fromEntries(Object.entries(held).map(([name, each]) => [name, forEditors(each)]));
  }
  for (const keyword of ofLists) {
    const held = schema[keyword] as readonly Definition[] | undefined;
    if (held) copied[keyword] = held.map(forEditors);
  }
  for (const keyword of ofSchemas) {
    const held = schema[keyword];
    if (typeof held === 'object' && held !== null) copied[keyword] = forEditors(held as Definition);
  }
  const checked = schema.enum ?? schema.pattern ?? schema.format;
  if (checked === undefined) return copied;

  const outside = Object.fromEntries(annotations.flatMap((name) => (name in copied ? [[name, copied[name]]] : [])));
  const inside = Object.fromEntries(Object.entries(copied).filter(([name]) => !annotations.includes(name)));
  return { ...outside, anyOf: [inside, { type: 'string', pattern: '\\$\\{' }] };
}
