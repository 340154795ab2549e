// Loads the compiled server. Every build has a copy of this file, for the processes that it starts.
import { randomBytes } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { cachedDataVersionTag } from 'node:v8';
import { Script } from 'node:vm';

/** The module that contains all others: the body of one function. */
export const SERVER = 'server.cjs';

/**
 * Runs the compiled module with V8's code cache of an earlier start, because parsing and compiling it again takes half of a start. `keep` writes the
 * cache if it does not exist; call it when everything that a start needs has run.
 */
export function loadCompiled(folder) {
  const filename = join(folder, SERVER);
  // V8 would reject a cache of another version or with other flags.
  const cache = join(folder, `${cachedDataVersionTag()}.cache`);
  // It is ASCII, and Latin-1 is decoded much faster.
  const script = new Script(readFileSync(filename, 'latin1'), {
    filename,
    cachedData: readIfThere(cache),
  });
  const module = { exports: {} };
  script.runInThisContext()(module.exports, createRequire(filename), module, filename, dirname(filename));
  const { compiled } = module.exports;
  compiled.import = (url) => import(url);
  const isKept = script.cachedDataRejected === false;
  return { compiled, keep: () => isKept || write(cache, script.createCachedData()) };
}

function readIfThere(file) {
  try {
    return readFileSync(file);
  } catch {
    return undefined;
  }
}

/** Writes atomically: a concurrent reader finds the whole file or none. */
function write(file, bytes) {
  const making = `${file}.${randomBytes(4).toString('hex')}`;
  try {
    writeFileSync(making, bytes);
    renameSync(making, file);
  } catch {
    // If it cannot be written, the next start compiles again.
  }
}
