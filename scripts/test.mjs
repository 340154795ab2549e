// Runs the tests: every *.test.ts below test/, or those whose path holds one of the words given. Node 20 knows no patterns.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';

const words = process.argv.slice(2);
const files = readdirSync('test', { recursive: true })
  .map((name) => join('test', name))
  .filter((name) => name.endsWith('.test.ts') && (words.length === 0 || words.some((word) => name.includes(word))))
  .sort();
const { status } = spawnSync(
  process.execPath,
  ['--import', 'tsx', '--test', `--test-concurrency=${availableParallelism()}`, ...files],
  { stdio: 'inherit' },
);
process.exitCode = status ?? 1;
