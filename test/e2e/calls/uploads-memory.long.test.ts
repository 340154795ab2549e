/** T-LOAD-07: many large uploads at once, and what they cost the gateway in memory; each byte of each of them arrives. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import busboy from 'busboy';
import { stringify } from 'yaml';
import { testStore } from '../../kit/gateway/gateway.ts';
import { type GatewayProcess, startProcess, turnpike } from '../../kit/gateway/process.ts';

const MB = 1_000_000;
const FILE_BYTES = 25 * MB;
const AT_ONCE = 50;
const ROOM = 60 * MB;

/** A file of so many bytes, no piece like another's, made as it is read: making them must not be what takes the time. */
function* fileOf(seed: number): Generator<Buffer> {
  const piece = Buffer.alloc(50_000, `${seed} `);
  for (let at = 0; at < FILE_BYTES; at += piece.length) {
    piece.writeUInt32LE(at);
    yield Buffer.from(piece);
  }
}

function digestOf(seed: number): string {
  const hash = createHash('sha256');
  for (const piece of fileOf(seed)) hash.update(piece);
  return hash.digest('hex');
}

// Elsewhere nobody says how much memory a process has had.
if (existsSync('/proc/self/clear_refs')) {
  describe(`${AT_ONCE} uploads of ${FILE_BYTES / MB} MB at once`, () => {
    const dir = mkdtempSync(join(tmpdir(), 'turnpike-uploads-'));
    const spool = join(dir, 'spool');
    let vendor: Server;
    let gateway: GatewayProcess;
    let key: string;
    before(async () => {
      vendor = createServer((incoming, answer) => {
        let heard = '';
        const form = busboy({ headers: incoming.headers });
        form.on('file', (_name, file) => {
          const hash = createHash('sha256');
          file.on('data', (piece: Buffer) => void hash.update(piece));
          file.on('end', () => {
            heard = hash.digest('hex');
          });
        });
        form.on('finish', () => {
          answer.writeHead(200, { 'content-type': 'application/json' });
          answer.end(JSON.stringify({ text: heard, usage: { type: 'duration', seconds: 7 } }));
        });
        incoming.pipe(form);
      }).listen(0, '127.0.0.1');
      await new Promise((resolve) => vendor.once('listening', resolve));
      const url = `http://127.0.0.1:${(vendor.address() as AddressInfo).port}/v1`;
      const file = join(dir, 'gateway.yaml');
      writeFileSync(
        file,
        stringify({
          // All of them come with one key.
          listen: { port: 0, body: { spool: './spool', inFlight: { disk: { perAccount: '2000MB' } } } },
          store: (await testStore(dir)).section,
          pipeline: [
            'accounts',
            'auth',
            'counters',
            'keys',
            'prices',
            'quota',
            'models',
            'styles',
            'vendors/compatible',
            'log',
          ],
          channels: [{ name: 'ears', vendor: 'compatible', url, key: 'vendor-key', speaks: ['transcription'] }],
          models: { ears: { from: ['ears'], price: { perSecond: 0.0001 } } },
        }),
      );
      gateway = await startProcess(file);
      const made = await turnpike(['key', 'create', '--name', 'uploads', '--unlimited', '--config', file]);
      key = made.stdout.trim();
    });
    after(async () => {
      await gateway.stop();
      vendor.close();
      vendor.closeAllConnections();
      rmSync(dir, { recursive: true, force: true });
    });

    /** The field `Vm…` of the gateway's process, in bytes. */
    const memory = (field: 'VmRSS' | 'VmHWM'): number => {
      const status = readFileSync(`/proc/${gateway.pid}/status`, 'utf8');
      return Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)![1]) * 1_024;
    };

    /** Uploads one file, and says what the vendor heard; where it was refused, why. */
    async function upload(seed: number): Promise<string> {
      const boundary = `upload-${seed}`;
      function* body(): Generator<Buffer> {
        const part = (about: string) =>
          Buffer.from(`--${boundary}\r\ncontent-disposition: form-data; ${about}\r\n\r\n`);
        yield part('name="file"; filename="long.mp3"');
        yield* fileOf(seed);
        yield Buffer.from('\r\n');
        yield part('name="model"');
        yield Buffer.from(`ears\r\n--${boundary}--\r\n`);
      }
      const outgoing = request(`${gateway.url}/v1/audio/transcriptions`, {
        method: 'POST',
        agent: false,
        headers: { authorization: `Bearer ${key}`, 'content-type': `multipart/form-data; boundary=${boundary}` },
      });
      // Fifty of them keep this process busy: no gateway waits for a head for ever.
      outgoing.flushHeaders();
      Readable.from(body()).pipe(outgoing);
      const answer = await text(
        await new Promise<Readable>((resolve, reject) => {
          outgoing.once('response', resolve);
          outgoing.once('error', reject);
        }),
      );
      return (JSON.parse(answer) as { text?: string }).text ?? answer;
    }

    it(`need less than ${ROOM / MB} MB more than a gateway at rest, arrive byte for byte, and leave no file`, async (t) => {
      // What the first ones need for ever: code, connections, threads.
      for (let seed = 1; seed <= 4; seed++) assert.equal(await upload(seed), digestOf(seed));
      const base = memory('VmRSS');
      writeFileSync(`/proc/${gateway.pid}/clear_refs`, '5');
      const seeds = Array.from({ length: AT_ONCE }, (_, i) => 1_000 + i);
      const heard = await Promise.all(seeds.map(upload));
      const peak = memory('VmHWM');
      t.diagnostic(`at rest ${Math.round(base / MB)} MB, at most ${Math.round(peak / MB)} MB`);
      assert.deepEqual(heard, seeds.map(digestOf));
      assert.ok(
        peak - base < ROOM,
        `${Math.round((peak - base) / MB)} MB more than the ${Math.round(base / MB)} at rest`,
      );
      assert.deepEqual(readdirSync(spool), []);
    });
  });
}
