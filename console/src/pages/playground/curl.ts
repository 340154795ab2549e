/** A call as somebody would make it in a shell. Pure. */
import { PATHS, type Way } from './prompt.ts';
import type { JsonObject } from './typed-json.ts';

/** Stands where the key goes: its text is not known here. */
const SOME_KEY = 'sk-…';
/** Shells take no arguments that are much longer. */
const LONGEST_ARGUMENT = 100_000;

/** The command. `file`: of a form, the name of the file. */
export function curlOf(gateway: string, way: Way, body: JsonObject, file?: string): string {
  const lines = [`curl ${quoted(`${gateway}${PATHS[way]}`)}`, `-H 'Authorization: Bearer ${SOME_KEY}'`];
  if (way === 'messages') lines.push(`-H 'anthropic-version: 2023-06-01'`);
  if (file !== undefined) {
    lines.push(...Object.entries(body).map(([name, value]) => `-F ${quoted(`${name}=${value}`)}`));
    // Names with these letters are read in another way.
    lines.push(`-F ${quoted(`file=@"${file.replaceAll(/["\\]/g, '\\$&')}"`)}`);
    return lines.join(' \\\n  ');
  }
  lines.push(`-H 'Content-Type: application/json'`);
  if (body.stream === true) lines.push('--no-buffer');
  const json = JSON.stringify(body);
  if (way === 'speech') lines.push('--output speech');
  if (json.length > LONGEST_ARGUMENT) return `${lines.join(' \\\n  ')} \\\n  --data-binary @- <<'JSON'\n${json}\nJSON`;
  return [...lines, `-d ${quoted(json)}`].join(' \\\n  ');
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Pictures are thousands of letters that nobody reads: their beginning stands for them. */
export function shortened(text: string): string {
  return text.replaceAll(/[A-Za-z0-9+/=_-]{400,}/g, (long) => `${long.slice(0, 40)}…[${long.length}]`);
}
