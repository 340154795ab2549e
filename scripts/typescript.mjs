// Registers a TypeScript loader in the process that imports this: `node --import turnpike/typescript`. `turnpike/…` is this package for modules that
// have no package of that name: plugins may be in any folder, and this package may be installed under another name.
import { readFileSync } from 'node:fs';
import * as module from 'node:module';
import { register } from 'tsx/esm/api';

register();

const { name } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));

/** A `.ts` file is a module, even if a package.json above it has another type, because a plugin may be in any folder. */
function asModule(found) {
  return found.url.endsWith('.ts') ? { ...found, format: 'module' } : found;
}

/** The same specifier, as this package refers to itself. Throws `error` if it is not this package that was not found. */
function ofThisPackage(specifier, context, error, name, parentURL) {
  if (!specifier.startsWith('turnpike/') || error.code !== 'ERR_MODULE_NOT_FOUND') throw error;
  return [specifier.replace('turnpike', name), { ...context, parentURL }];
}

// Only the first of the two hooks runs in the thread of the program; node 20 does not have it.
if (module.registerHooks !== undefined) {
  module.registerHooks({
    resolve(specifier, context, next) {
      try {
        return asModule(next(specifier, context));
      } catch (error) {
        return asModule(next(...ofThisPackage(specifier, context, error, name, import.meta.url)));
      }
    },
  });
} else {
  const hook = `export async function resolve(specifier, context, next) {
    try {
      return asModule(await next(specifier, context));
    } catch (error) {
      return asModule(await next(...ofThisPackage(specifier, context, error, ${JSON.stringify([name, import.meta.url]).slice(1, -1)})));
    }
  }`;
  module.register(`data:text/javascript,${encodeURIComponent([hook, asModule, ofThisPackage].join('\n'))}`);
}
