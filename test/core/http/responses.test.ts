/** Long answers that are sent piece by piece. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { describe, it } from 'node:test';
import { sendPieces } from '../../../core/http/responses.ts';

/** Sends these pieces to whoever asks, and tells how that ended. */
async function sending(pieces: () => AsyncIterable<string>, stalledMs: number) {
  let ended: (how: string) => void;
  const end = new Promise<string>((resolve) => {
    ended = resolve;
  });
  let stalled: () => void;
  const stall = new Promise<void>((resolve) => {
    stalled = resolve;
  });
  const server = createServer((_, response) => {
    response.once('timeout', () => stalled());
    sendPieces(response, 200, [], pieces(), stalledMs).then(
      () => ended('whole'),
      () => ended('truncated'),
    );
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, end, stall, stop: () => server.close() };
}

const STALLED_MS = 20;

describe('a long answer', () => {
  it('goes on after a silence of its source that is longer than a client may stall', async () => {
    const source = new Readable({ read() {} }).setEncoding('utf8');
    const { url, end, stall, stop } = await sending(() => source, STALLED_MS);
    source.push('one ');
    const answer = await fetch(url);
    const reader = answer.body!.getReader();
    await reader.read();
    await stall;
    source.push('two');
    source.push(null);
    assert.equal(Buffer.from((await reader.read()).value!).toString(), 'two');
    assert.equal(await end, 'whole');
    stop();
  });

  it('ends if its client reads nothing of it', async () => {
    const piece = 'x'.repeat(1_000_000);
    async function* endless() {
      for (;;) yield piece;
    }
    const { url, end, stop } = await sending(endless, STALLED_MS);
    const asked = get(url, (answer) => answer.pause());
    asked.on('error', () => {});
    assert.equal(await end, 'truncated');
    asked.destroy();
    stop();
  });

  it('has a head for HEAD, and takes nothing from its source', async () => {
    let taken = 0;
    const source = new Readable({ read: () => void taken++ });
    const { url, end, stop } = await sending(() => source, STALLED_MS);
    const { status } = await fetch(url, { method: 'HEAD' });
    assert.deepEqual([status, await end, taken, source.destroyed], [200, 'whole', 0, true]);
    stop();
  });
});
