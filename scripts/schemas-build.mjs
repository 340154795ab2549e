// Writes what the schemas of all sections of gateway.yaml compile to beside the compiled server, `schemas-build.mjs FOLDER`: to compile them
// at a start takes a third of it.
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { _, Ajv } from 'ajv';
import standalone from 'ajv/dist/standalone/index.js';

const folder = process.argv[2];
const load = (name) => import(pathToFileURL(join(folder, name)).href);

const { coreSections } = await load('core.config.core-sections.js');
const { VALIDATOR } = await load('core.config.validator.js');
const { checkedPart, nameOf } = await load('core.config.ready.js');
const plugins = await Promise.all(
  readdirSync(folder)
    .filter((name) => /^plugins\..*\.index\.js$/.test(name))
    .map(load),
);
const sections = [coreSections, ...plugins.map((module) => module.default?.sections ?? {})];
const schemas = sections.flatMap((own) => Object.values(own)).map(checkedPart);

const formats = _`require("./core.config.formats.cjs").formats`;
const validator = new Ajv({ ...VALIDATOR, code: { source: true, formats } });
const names = Object.fromEntries(schemas.map((schema) => [nameOf(schema), nameOf(schema)]));
for (const schema of new Map(schemas.map((schema) => [nameOf(schema), schema])).values())
  validator.addSchema(schema, nameOf(schema));
writeFileSync(join(folder, 'validators.cjs'), standalone.default(validator, names));
