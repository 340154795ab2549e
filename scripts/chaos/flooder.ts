/**
 * One member that floods a gateway, as a separate process: `flooder.ts JSON`. Prints at its end the number of each
 * status.
 */
import { connect, type Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';

/** The kinds of floods. */
export const FLOODS = [
  ...(['recall', 'keep', 'bodies', 'count', 'redact', 'pseudonyms', 'count-large'] as const),
  ...(['statistics', 'csv', 'openapi'] as const),
] as const;
export type FloodKind = (typeof FLOODS)[number];

/** The flood: kind, address, key and duration. */
export interface Flood {
  readonly kind: FloodKind;
  readonly port: number;
  readonly key: string;
  readonly seconds: number;
  /** A stored response of this member. */
  readonly responseId: string;
  /** The session of this member, as the header `cookie`. */
  readonly cookie: string;
}

/** Number of answers by status; `none`: the connection ended without an answer, or stayed open to the end. */
export type Statuses = Readonly<Record<string, number>>;

const MB = 1_000_000;
const EVERY_MS = 1_000;
const NEVER = 'none';

/** A request, and whether its last byte is held back. */
interface Sent {
  readonly head: string;
  readonly body?: Buffer;
  readonly unfinished?: true;
}

function request(
  flood: Pick<Flood, 'key' | 'cookie'>,
  method: string,
  path: string,
  type: string,
  body?: Buffer,
): Sent {
  const lines = [
    `${method} ${path} HTTP/1.1`,
    'host: 127.0.0.1',
    // The console's routes take a session, and no key.
    ...(path.startsWith('/api/') ? [`cookie: ${flood.cookie}`] : [`authorization: Bearer ${flood.key}`]),
    'anthropic-version: 2023-06-01',
    ...(body === undefined ? [] : [`content-type: ${type}`, `content-length: ${body.length}`]),
  ];
  return { head: `${lines.join('\r\n')}\r\n\r\n`, ...(body !== undefined && { body }) };
}

/** Sends it over a new connection; returns the status as soon as it is received. */
async function send({ head, body, unfinished }: Sent, port: number, open: Set<Socket>): Promise<string> {
  const socket = connect({ host: '127.0.0.1', port });
  open.add(socket);
  socket.on('error', () => {});
  socket.write(head);
  if (body !== undefined) socket.write(unfinished === true ? body.subarray(0, -1) : body);
  let statusLine = '';
  socket.on('data', (chunk: Buffer) => {
    statusLine += statusLine.length < 12 ? chunk.toString('latin1', 0, 12) : '';
    // Only one answer per connection is read; the flooder closes it itself.
    if (unfinished !== true && statusLine.length >= 12) socket.end();
  });
  await new Promise((resolve) => socket.on('close', resolve));
  open.delete(socket);
  return /^HTTP\/1\.1 (\d{3})/.exec(statusLine)?.[1] ?? NEVER;
}

const JSON_TYPE = 'application/json';
const text = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));

/** A request of 15 MB that is full of one text. */
function chat(flood: Flood, model: string, content: string, path = '/v1/chat/completions'): Sent {
  const messages = [{ role: 'user', content: content.repeat((15 * MB) / content.length) }];
  return request(flood, 'POST', path, JSON_TYPE, text({ model, max_tokens: 16, messages }));
}

/** The request of each kind, sent repeatedly. */
function volleyOf(flood: Flood): readonly Sent[] {
  const many = (count: number, sent: Sent): readonly Sent[] => Array.from({ length: count }, () => sent);
  switch (flood.kind) {
    case 'recall': {
      const body = text({ model: 'paid', input: 'y', previous_response_id: flood.responseId });
      const items = `/v1/responses/${flood.responseId}/input_items`;
      return [
        ...many(60, request(flood, 'POST', '/v1/responses', JSON_TYPE, body)),
        ...many(30, request(flood, 'GET', items, JSON_TYPE)),
      ];
    }
    case 'keep': {
      const body = text({ model: 'free', input: 'x'.repeat(15 * MB) });
      return many(12, request(flood, 'POST', '/v1/responses', JSON_TYPE, body));
    }
    case 'bodies': {
      const body = text({ model: 'paid', messages: [{ role: 'user', content: 'x'.repeat(15.9 * MB) }] });
      const part = '--b\r\ncontent-disposition: form-data; name="file"; filename="a.mp3"\r\n\r\n';
      const form = Buffer.concat([Buffer.from(part), Buffer.alloc(25 * MB, 'x')]);
      const upload = request(flood, 'POST', '/v1/audio/transcriptions', 'multipart/form-data; boundary=b', form);
      return [
        ...many(60, { ...request(flood, 'POST', '/v1/chat/completions', JSON_TYPE, body), unfinished: true }),
        ...many(40, { ...upload, unfinished: true }),
      ];
    }
    case 'count': {
      const body = text({ model: 'paid', messages: [{ role: 'user', content: 'Hello?' }] });
      return many(200, request(flood, 'POST', '/v1/messages/count_tokens', JSON_TYPE, body));
    }
    case 'redact':
      return many(12, chat(flood, 'paid', 'TCK-123456 '));
    case 'pseudonyms':
      return [
        ...many(6, chat(flood, 'paid', 'ann@example.com ')),
        ...many(6, chat(flood, 'paid', '4111 1111 1111 1111 ')),
      ];
    case 'count-large':
      return many(12, chat(flood, 'paid', 'ann@example.com ', '/v1/messages/count_tokens'));
    case 'statistics': {
      const paths = ['usage/self/sums?group_by=tag', 'usage/self/trend?group_by=tag', 'log/self/stat', 'data/self'];
      return paths.flatMap((path) => many(25, request(flood, 'GET', `/api/${path}`, JSON_TYPE)));
    }
    case 'csv':
      return many(60, request(flood, 'GET', '/api/log/self?format=csv', JSON_TYPE));
    case 'openapi':
      return many(200, request(flood, 'GET', '/api/openapi.json', JSON_TYPE));
  }
}

async function run(flood: Flood): Promise<Statuses> {
  const volley = volleyOf(flood);
  const open = new Set<Socket>();
  const statuses: Record<string, number> = {};
  const rounds: Promise<void>[] = [];
  const endsAt = performance.now() + flood.seconds * 1_000;
  while (performance.now() < endsAt) {
    const nextAt = performance.now() + EVERY_MS;
    // Slow connections stay open; their number is limited.
    if (open.size < volley.length)
      rounds.push(
        ...volley.slice(open.size).map(async (sent) => {
          const status = await send(sent, flood.port, open);
          statuses[status] = (statuses[status] ?? 0) + 1;
        }),
      );
    await setTimeout(Math.max(0, nextAt - performance.now()));
  }
  for (const socket of open) socket.destroy();
  await Promise.all(rounds);
  return statuses;
}

const [, script, argument] = process.argv;
if (script?.endsWith('flooder.ts') && argument !== undefined) {
  process.stdout.write(JSON.stringify(await run(JSON.parse(argument) as Flood)));
}
