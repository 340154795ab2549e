/** The terminal output of the first start: the new secrets, and an example call to paste. */
import type { FirstSecrets } from '../gateway/gateway.ts';

/** Where the secrets can be used. */
export interface FirstCall {
  readonly url: string;
  /** A public model name; undefined if there is none. */
  readonly model: string | undefined;
}

/** As text for a terminal, and as one line of JSON for a log; undefined if nothing was created. */
export function greeting(
  { rootPassword, key, signIn, database, masterKey }: FirstSecrets,
  at?: FirstCall,
): { readonly text: string; readonly json: string } | undefined {
  if (rootPassword === undefined && key === undefined) return undefined;
  const page = signIn === undefined || at === undefined ? signIn : reachable(signIn, at.url);
  const call = at?.model === undefined || key === undefined ? undefined : curl(at.url, key, at.model);
  const lines = ['', 'This is the first start. The following is shown once and stored nowhere:', ''];
  if (rootPassword !== undefined) lines.push(`  root password   ${rootPassword}`);
  if (key !== undefined) lines.push(`  first API key   ${key}`);
  if (page !== undefined) lines.push(`  console         ${page} (sign in as root)`);
  if (database !== undefined) lines.push(`  database        ${database} (new)`);
  if (masterKey !== undefined) {
    lines.push(
      `  master key      ${masterKey}`,
      '',
      'Keep a copy of the master key in another place: backups do not contain it.',
    );
  }
  if (call !== undefined) lines.push('', 'Try it:', '', call);
  lines.push('');
  const json = JSON.stringify({
    level: 'info',
    msg: 'first start',
    rootPassword,
    key,
    console: page,
    database,
    masterKey,
    try: call,
  });
  return { text: `${lines.join('\n')}\n`, json };
}

/** On this machine, without a proxy, the port is the listening one, which may differ from the unedited file. */
function reachable(signIn: string, url: string): string {
  const page = new URL(signIn);
  const direct = page.protocol === 'http:' && page.hostname === 'localhost' && page.pathname === '/console';
  const listening = new URL(url);
  if (direct) [page.protocol, page.port] = [listening.protocol, listening.port];
  return page.href;
}

function curl(url: string, key: string, model: string): string {
  const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello!' }] });
  return `curl ${url}/v1/chat/completions -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' -d '${body.replaceAll("'", "'\\''")}'`;
}
