/** A mail server that keeps what it is given, or refuses as a test tells it to. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { SMTPServer, type SMTPServerDataStream } from 'smtp-server';

/** A letter as it came over the wire. */
export interface TakenLetter {
  readonly from: string;
  readonly to: readonly string[];
  /** Head and body, as they are. */
  readonly raw: string;
  /** By lower-case name; what stands in several lines is one. */
  readonly head: ReadonlyMap<string, string>;
  /** Without its transfer encoding. */
  readonly text: string;
}

/** A running server. */
export interface FakeSmtp {
  /** `smtp://127.0.0.1:PORT`, without a name and a password */
  readonly url: string;
  readonly letters: readonly TakenLetter[];
  /** Connections accepted so far. */
  readonly connections: number;
  /** How often somebody tried to hand one over. */
  readonly tries: number;
  /** Answers the next letters with this status, one each: 451 is for later, 550 for ever. */
  refuse(...statuses: readonly number[]): void;
  /** Resolves with the next letter that nobody has waited for. */
  letter(): Promise<TakenLetter>;
  close(): Promise<void>;
}

/** Starts one. `login`: it takes letters of that name and password only. */
export async function startSmtp(
  options: { readonly login?: { readonly name: string; readonly password: string }; readonly host?: string } = {},
): Promise<FakeSmtp> {
  const { login, host = '127.0.0.1' } = options;
  const letters: TakenLetter[] = [];
  const refusals: number[] = [];
  const arrivals: (() => void)[] = [];
  let tries = 0;
  let connections = 0;
  let read = 0;
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS', ...(login === undefined ? ['AUTH'] : [])],
    allowInsecureAuth: true,
    authOptional: login === undefined,
    onConnect(_session, done) {
      connections++;
      done();
    },
    onAuth: ({ username, password }, _session, done) =>
      username === login?.name && password === login?.password
        ? done(null, { user: username })
        : done(new Error('who are you?')),
    onData(stream: SMTPServerDataStream, session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        tries++;
        const status = refusals.shift();
        if (status !== undefined) {
          done(Object.assign(new Error('not this one'), { responseCode: status }));
          return;
        }
        const { mailFrom, rcptTo } = session.envelope;
        const to = rcptTo.map(({ address }) => address);
        letters.push(readLetter(mailFrom === false ? '' : mailFrom.address, to, Buffer.concat(chunks).toString()));
        for (const arrived of arrivals.splice(0)) arrived();
        done();
      });
    },
  });
  server.on('error', () => {});
  server.listen(0, host);
  await once(server.server, 'listening');
  const { port } = server.server.address() as AddressInfo;
  return {
    url: `smtp://${host}:${port}`,
    letters,
    get connections() {
      return connections;
    },
    get tries() {
      return tries;
    },
    refuse: (...statuses) => void refusals.push(...statuses),
    async letter() {
      const mine = read++;
      while (letters[mine] === undefined) await new Promise<void>((resolve) => arrivals.push(resolve));
      return letters[mine];
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

function readLetter(from: string, to: readonly string[], raw: string): TakenLetter {
  const end = raw.indexOf('\r\n\r\n');
  const lines = raw
    .slice(0, end)
    .replace(/\r\n[ \t]+/g, ' ')
    .split('\r\n');
  const head = new Map(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 2)]),
  );
  const body = raw.slice(end + 4).replace(/\r\n/g, '\n');
  return { from, to, raw, head, text: decoded(body, head.get('content-transfer-encoding') ?? '') };
}

function decoded(body: string, encoding: string): string {
  if (/base64/i.test(encoding)) return Buffer.from(body, 'base64').toString();
  if (!/quoted-printable/i.test(encoding)) return body;
  const bytes = body
    .replace(/=\n/g, '')
    .replace(/=([0-9A-F]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString();
}
