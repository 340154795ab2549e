// Loads the compiled server. Every build has a copy of this file, for the processes that it starts.
import { randomBytes } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { cachedDataVersionTag } from 'node:v8';
import { Script } from 'node:vm';

/** The module that holds all others: the body of one function. */
export const SERVER = 'server.cjs';

/**
 * Runs the compiled module, with what the engine made of it at an earlier start: to read and compile it anew takes half of a start. `keep`
 * writes that down where it is not there; it is best done when everything that a start needs has run.
 */
export function loadCompiled(folder) {
  const filename = join(folder, SERVER);
  // Of another version of the engine, or made with other flags, it would be refused.
  const cache = join(folder, `${cachedDataVersionTag()}.cache`);
  // It is ASCII, and much faster to read as what takes a byte for each character.
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

/** Whoever reads it meanwhile finds all of it or nothing. */
function write(file, bytes) {
  const making = `${file}.${randomBytes(4).toString('hex')}`;
  try {
    writeFileSync(making, bytes);
    renameSync(making, file);
  } catch {
    // Where nothing can be written, the next start compiles again.
  }
}
