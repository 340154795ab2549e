// Loaded before each test file: every test and hook has a limit, so that one that hangs fails under its name instead of holding up the run. Node 20
// has no such option for a test (`--test-timeout` there ends the whole file).
import { createRequire, syncBuiltinESMExports } from 'node:module';

/** Ten times what the longest test takes on a busy machine. */
const LIMIT_MS = 300_000;
const isObject = (value) => typeof value === 'object' && value !== null;

if (process.env.NODE_TEST_CONTEXT !== undefined) {
  const tests = createRequire(import.meta.url)('node:test');
  for (const name of ['it', 'test']) {
    const own = tests[name];
    tests[name] = Object.assign((...args) => own(...limited(args)), own);
  }
  for (const name of ['before', 'after', 'beforeEach', 'afterEach']) {
    const own = tests[name];
    tests[name] = (fn, options) => own(fn, { timeout: LIMIT_MS, ...options });
  }
  syncBuiltinESMExports();
}

/** The arguments of a test (name, options, function, each optional) with the limit. */
function limited(args) {
  const at = args.findIndex(isObject);
  if (at >= 0) return args.with(at, { timeout: LIMIT_MS, ...args[at] });
  return args.toSpliced(args.findIndex((arg) => typeof arg === 'function') >>> 0, 0, { timeout: LIMIT_MS });
}
