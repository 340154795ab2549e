// `schemas-build.mjs FOLDER`: writes the compiled schemas of all sections of gateway.yaml next to the compiled server, because compiling them takes a
// third of a start.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { _, Ajv } from 'ajv';
import standalone from 'ajv/dist/standalone/index.js';
import { loadCompiled } from './compiled-load.mjs';

const folder = process.argv[2];
const { modules } = loadCompiled(folder).compiled;
const load = (file) => modules.get(file)();

const { coreSections } = await load('core/config/core-sections.ts');
const { VALIDATOR } = await load('core/config/validator.ts');
const { checkedPart, nameOf } = await load('core/config/compiled-schemas.ts');
const plugins = await Promise.all([...modules.keys()].filter((file) => file.startsWith('plugins')).map(load));
const sections = [coreSections, ...plugins.map((module) => module.default?.sections ?? {})];
// Each driver has its own schema of the section `store`.
const ofDrivers = plugins.flatMap((module) => module.default?.section ?? []);
const schemas = [...sections.flatMap((own) => Object.values(own)), ...ofDrivers].map(checkedPart);

const formats = _`require("./core.config.formats.js").formats`;
const validator = new Ajv({ ...VALIDATOR, code: { source: true, formats } });
const names = Object.fromEntries(schemas.map((schema) => [nameOf(schema), nameOf(schema)]));
for (const schema of new Map(schemas.map((schema) => [nameOf(schema), schema])).values())
  validator.addSchema(schema, nameOf(schema));
writeFileSync(join(folder, 'validators.cjs'), standalone.default(validator, names));
