/** What the terminal shows on the very first start: the secrets that are made once, and a call that works as pasted. */
import type { Gateway } from './gateway.ts';

/** As text for people and as one line of JSON for a log; undefined where nothing was made. */
export function greeting(
  gateway: Gateway,
  url: string | undefined,
): { readonly text: string; readonly json: string } | undefined {
  const { rootPassword, key } = gateway.firstSecrets;
  if (rootPassword === undefined && key === undefined) return undefined;
  const call = url === undefined || key === undefined ? undefined : curl(url, key, gateway.exampleModel);
  const lines = ['', 'This is the first start. The following is shown once and stored nowhere:', ''];
  if (rootPassword !== undefined) lines.push(`  root password   ${rootPassword}`);
  if (key !== undefined) lines.push(`  first API key   ${key}`);
  if (call !== undefined) lines.push('', 'Try it:', '', call);
  lines.push('');
  const json = JSON.stringify({ level: 'info', msg: 'first start', rootPassword, key, try: call });
  return { text: `${lines.join('\n')}\n`, json };
}

function curl(url: string, key: string, model: string | undefined): string | undefined {
  if (model === undefined) return undefined;
  const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello!' }] });
  return `curl ${url}/v1/chat/completions -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' -d '${body}'`;
}
