/** The JSON Schema of gateway.yaml, for completion and validation in editors. */
import type { Schema } from '../../plugin.ts';

/** The schema of a file with these sections. Every string also accepts `${…}`. */
export function editorSchema(sections: Readonly<Record<string, Schema>>): object {
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'gateway.yaml',
    type: 'object',
    additionalProperties: false,
    properties: Object.fromEntries(Object.entries(sections).map(([name, schema]) => [name, section(schema)])),
  };
}

/** A section name without content counts as a missing section. */
function section(schema: Schema): Definition {
  const definition = forEditors(schema);
  return definition.type === 'object' ? { ...definition, type: ['object', 'null'] } : definition;
}

type Definition = Readonly<Record<string, unknown>>;

/** Keywords by what they contain. */
const ofMaps = ['properties', 'patternProperties', 'definitions'];
const ofLists = ['anyOf', 'oneOf', 'allOf'];
const ofSchemas = ['items', 'additionalProperties'];
const annotations = ['title', 'description', 'default', 'examples'];

function forEditors(schema: Definition): Definition {
  const copied: Record<string, unknown> = { ...schema };
  for (const keyword of ofMaps) {
    const children = schema[keyword] as Readonly<Record<string, Definition>> | undefined;
    if (children)
      copied[keyword] = Object.fromEntries(Object.entries(children).map(([name, each]) => [name, forEditors(each)]));
  }
  for (const keyword of ofLists) {
    const children = schema[keyword] as readonly Definition[] | undefined;
    if (children) copied[keyword] = children.map(forEditors);
  }
  for (const keyword of ofSchemas) {
    const children = schema[keyword];
    if (typeof children === 'object' && children !== null) copied[keyword] = forEditors(children as Definition);
  }
  const checked = schema.enum ?? schema.pattern ?? schema.format;
  if (checked === undefined) return copied;

  const outside = Object.fromEntries(annotations.flatMap((name) => (name in copied ? [[name, copied[name]]] : [])));
  const inside = Object.fromEntries(Object.entries(copied).filter(([name]) => !annotations.includes(name)));
  return { ...outside, anyOf: [inside, { type: 'string', pattern: '\\$\\{' }] };
}
