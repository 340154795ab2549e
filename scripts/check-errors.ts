/** Checks that all errors of core and plugins come from tables, and that the files generated from the tables are current. Part of `npm test`. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { made } from './errors.ts';

/** The only files that make errors with codes that are in no table. */
const BY_HAND: Readonly<Record<string, string>> = {
  'core/contracts/gateway-error.ts': 'makes all of them',
  'core/delivery/judge-answer.ts': 'repeats the error of a vendor, with its code',
  'plugins/styles/history/joiner.ts': 'repeats the error of a thread, which had it from a table',
};
const problems: string[] = [];

for (const room of ['core', 'plugins']) {
  for (const name of readdirSync(room, { recursive: true, encoding: 'utf8' })) {
    const file = join(room, name);
    if (!file.endsWith('.ts') || file in BY_HAND) continue;
    const text = readFileSync(file, 'utf8');
    for (const { index } of text.matchAll(
      /\bnew GatewayError\(|(?<![.\w])refuse\(\s*(?:\d|[\w.]*status\b|[\w.]+,\s*')/g,
    )) {
      const line = text.slice(0, index).split('\n').length;
      problems.push(`${file}:${line}: makes an error by hand; throw one of a table (\`defineErrors\`)`);
    }
    if (/^plugins\/[^/]+\/errors\.ts$/.test(file)) {
      const index = readFileSync(file.replace('errors.ts', 'index.ts'), 'utf8');
      if (!/^ {2}errors,$/m.test(index)) problems.push(`${file}: the plugin does not register its errors`);
    }
  }
}
for (const [file, text] of await made())
  if (readFileSync(file, 'utf8') !== text) problems.push(`${file} is not current: npm run errors`);

if (problems.length > 0) {
  process.stderr.write(`${problems.join('\n')}\n`);
  process.exitCode = 1;
}
