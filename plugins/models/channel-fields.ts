/** The headers and query parameters of a channel, and which headers are not allowed. */
import type { Channel, Vendor } from '../../core/plugin.ts';
import type { ChannelEntry } from './sections.ts';

/** Reports an error in a field of a channel. */
export type Problem = (path: readonly (string | number)[], message: string) => void;

/** Headers that the gateway sets itself, headers that frame the message, and hop-by-hop headers. */
const RESERVED: readonly string[] = [
  'accept-encoding',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];
const RESERVED_GROUPS = /^(?:proxy|sec-websocket)-/;

/** The headers by lower-case name, without empty ones; undefined if there are none. */
export function readHeaders(entry: ChannelEntry, problem: Problem): Channel['headers'] {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(entry.headers ?? {})) {
    const lower = name.toLowerCase();
    if (RESERVED.includes(lower) || RESERVED_GROUPS.test(lower)) {
      problem(['headers', name], 'this header cannot be set: the gateway sets it, or it concerns one connection only');
    } else if (Object.hasOwn(headers, lower)) {
      problem(['headers', name], 'is listed twice; upper and lower case are the same');
    } else {
      headers[lower] = value;
    }
  }
  return withValues(headers);
}

/** The query parameters without empty ones; undefined if there are none. */
export function readQuery({ query = {} }: ChannelEntry): Channel['query'] {
  return withValues(query);
}

function withValues(fields: Readonly<Record<string, string>>): Readonly<Record<string, string>> | undefined {
  const kept = Object.entries(fields).filter(([, value]) => value !== '');
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}

/** Reports a header that would replace one of the vendor's credentials: the credential belongs in `key`. */
export function checkCredentials(
  channel: Channel,
  { credentials }: Vendor,
  { headers }: ChannelEntry,
  problem: Problem,
): void {
  if (headers === undefined || credentials === undefined) return;
  const own = Object.keys(credentials(channel)).map((name) => name.toLowerCase());
  for (const name of Object.keys(headers)) {
    if (!own.includes(name.toLowerCase())) continue;
    problem(
      ['headers', name],
      `the vendor '${channel.vendor}' sends the channel's credential in this header; write it in \`key\``,
    );
  }
}
