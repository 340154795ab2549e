/** A call as a curl command. Pure. */
import { type Endpoint, PATHS } from './prompt.ts';
import type { JsonObject } from './typed-json.ts';

/** Placeholder for the key, whose secret is unknown here. */
const SOME_KEY = 'sk-…';
/** Longer bodies are passed on standard input, because systems limit the length of an argument. */
const LONGEST_ARGUMENT = 100_000;

/** The command. `file`: the name of the file of a form. */
export function curlOf(gateway: string, endpoint: Endpoint, body: JsonObject, file?: string): string {
  const lines = [`curl ${quoted(`${gateway}${PATHS[endpoint]}`)}`, `-H 'Authorization: Bearer ${SOME_KEY}'`];
  if (endpoint === 'messages') lines.push(`-H 'anthropic-version: 2023-06-01'`);
  if (file !== undefined) {
    lines.push(...Object.entries(body).map(([name, value]) => `-F ${quoted(`${name}=${value}`)}`));
    // curl interprets these characters in file names.
    lines.push(`-F ${quoted(`file=@"${file.replaceAll(/["\\]/g, '\\$&')}"`)}`);
    return lines.join(' \\\n  ');
  }
  lines.push(`-H 'Content-Type: application/json'`);
  if (body.stream === true) lines.push('--no-buffer');
  const json = JSON.stringify(body);
  if (endpoint === 'speech') lines.push('--output speech');
  if (json.length > LONGEST_ARGUMENT) return `${lines.join(' \\\n  ')} \\\n  --data-binary @- <<'JSON'\n${json}\nJSON`;
  return [...lines, `-d ${quoted(json)}`].join(' \\\n  ');
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Shortens image data for display. */
export function shortened(text: string): string {
  return text.replaceAll(/[A-Za-z0-9+/=_-]{400,}/g, (long) => `${long.slice(0, 40)}…[${long.length}]`);
}
