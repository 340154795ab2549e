/** Checks that every table has one owner, and only its owner's SQL uses it. Part of `npm test`. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const owners = new Map<string, string>();
const sources: { readonly file: string; readonly owner: string; readonly text: string }[] = [];
const problems: string[] = [];

for (const room of ['core', 'plugins']) {
  for (const name of readdirSync(room, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.ts')) continue;
    const file = join(room, name);
    const owner = room === 'core' ? 'core' : file.split('/').slice(0, 2).join('/');
    sources.push({ file, owner, text: readFileSync(file, 'utf8') });
  }
}
for (const { file, owner, text } of sources) {
  for (const [, table = ''] of text.matchAll(/CREATE TABLE (?:IF NOT EXISTS )?(\w+)/g)) {
    const other = owners.get(table);
    if (other !== undefined && other !== owner)
      problems.push(`${file}: the table ${table} belongs to ${other} already`);
    owners.set(table, owner);
  }
}
for (const { file, owner, text } of sources) {
  for (const [, table = ''] of text.matchAll(/\b(?:(?:FROM|JOIN|INTO|UPDATE)\s+|readPage<\w+>\(\w+, ')(\w+)/g)) {
    const its = owners.get(table);
    if (its !== undefined && its !== owner) problems.push(`${file}: names the table ${table}, which belongs to ${its}`);
  }
}
if (problems.length > 0) {
  process.stderr.write(`${problems.join('\n')}\n`);
  process.exitCode = 1;
}
