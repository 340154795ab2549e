// Registers a TypeScript loader in the process that imports this: `node --import turnpike/typescript`.
import * as module from 'node:module';
import { register } from 'tsx/esm/api';

register();

/** A `.ts` file is a module, even if a package.json above it has another type, because a plugin may be in any folder. */
function asModule(found) {
  return found.url.endsWith('.ts') ? { ...found, format: 'module' } : found;
}

// Only the first of the two hooks runs in the thread of the program; node 20 does not have it.
if (module.registerHooks !== undefined) {
  module.registerHooks({ resolve: (specifier, context, next) => asModule(next(specifier, context)) });
} else {
  const hook = `export const resolve = async (specifier, context, next) => asModule(await next(specifier, context));`;
  module.register(`data:text/javascript,${encodeURIComponent(`${hook}\n${asModule}`)}`);
}
