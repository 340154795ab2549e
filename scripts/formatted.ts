/** Formats what scripts write, as all code here is formatted. */
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';

/** The text of the file at this path. Throws the errors of the formatter. */
export function formatted(path: string, text: string): string {
  const biome = createRequire(new URL('../test/x', import.meta.url)).resolve('@biomejs/biome/bin/biome');
  const args = [biome, 'format', `--stdin-file-path=${path}`];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { input: text, encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  return stdout;
}
