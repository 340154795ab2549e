/** Media that the gateway fetches for a vendor: within bounds, and once. */
import assert from 'node:assert/strict';
import type { lookup as resolveName } from 'node:dns';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import type { Block, Conversation } from '../../../core/contracts/formats/conversation.ts';
import { GatewayError } from '../../../core/contracts/gateway-error.ts';
import type { Asker, GuardOptions } from '../../../core/outgoing/guarded-fetch.ts';
import { fetchMedia } from '../../../core/translation/quirks/media.ts';
import { layQuirks } from '../../../core/translation/quirks/quirks.ts';
import { collectWarnings } from '../../../core/translation/warnings/warnings.ts';
import { conversationOf } from '../../kit/conversations/conversations.ts';

const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13]);
const MIB = 1_024 * 1_024;

describe('fetched media', () => {
  let server: Server;
  let base: string;
  let answer: RequestListener;
  let asked: string[];
  before(async () => {
    server = createServer((request, response) => {
      asked.push(request.url!);
      answer(request, response);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    base = `http://pictures.example:${(server.address() as AddressInfo).port}`;
  });
  after(() => {
    server.close();
    server.closeAllConnections();
  });

  const lookup = ((_name: string, _options: object, callback: (error: null, found: readonly object[]) => void) =>
    callback(null, [{ address: '127.0.0.1', family: 4 }])) as unknown as typeof resolveName;
  /** Here the loopback address plays the public internet. */
  const guard: GuardOptions = { anyPort: true, isPublic: () => true, lookup };
  const quirks = layQuirks({ image: { url: 'fetch', types: ['image/png'] }, file: { url: 'fetch' } });
  const serve = (listener: RequestListener): void => {
    asked = [];
    answer = listener;
  };
  const file = (path: string): Block => ({ type: 'file', source: { kind: 'url', url: `${base}${path}` } });
  const image = (path: string): Block => ({ type: 'image', source: { kind: 'url', url: `${base}${path}` } });
  const someone = (): Asker => ({ signal: new AbortController().signal });
  const fetched = async (blocks: readonly Block[], asker = someone()): Promise<Conversation> =>
    fetchMedia(conversationOf([{ role: 'user', blocks }]), quirks, collectWarnings({}), asker, guard);

  it('have the type of their bytes, whatever their server says', async () => {
    serve((_request, response) => response.setHeader('content-type', 'binary/octet-stream').end(PNG));
    const inside: Block = { type: 'toolResult', id: 'a', kind: 'function', content: [image('/a')] };
    const { turns } = await fetched([image('/a'), inside]);
    const whole = { type: 'image', source: { kind: 'base64', mediaType: 'image/png', data: PNG.toString('base64') } };
    assert.deepEqual(turns[0]?.blocks, [whole, { ...inside, content: [whole] }]);
    assert.deepEqual(asked, ['/a']);

    serve((_request, response) => response.setHeader('content-type', 'image/png').end('GIF89a'));
    await assert.rejects(fetched([image('/a')]), /image\/gif/);
  });

  it('are not fetched again for the next attempt of the same request', async () => {
    serve((_request, response) => response.end('x'));
    const asker = someone();
    const first = await fetched([file('/a'), file('/b')], asker);
    assert.deepEqual(await fetched([file('/a'), file('/b')], asker), first);
    assert.deepEqual(asked.toSorted(), ['/a', '/b']);
    await fetched([file('/a')]);
    assert.equal(asked.length, 3);
  });

  it('have a total size limit per request', async () => {
    serve((_request, response) => response.end(Buffer.alloc(8 * MIB)));
    await assert.rejects(fetched([file('/a'), file('/b'), file('/c')]), /too large for one request/);
    const asker = someone();
    await fetched([file('/a'), file('/b')], asker);
    await assert.rejects(fetched([file('/a'), file('/b'), file('/c')], asker), /too large for one request/);
    const many = Array.from({ length: 17 }, (_, i) => file(`/${i}`));
    await assert.rejects(fetched(many), /more than 16 URLs to fetch/);
  });

  it('are all aborted when one fails', async () => {
    let closed: Promise<unknown> | undefined;
    serve((request, response) => {
      if (request.url === '/slow') closed = once(response, 'close');
      if (closed !== undefined && asked.length === 2) server.emit('both');
      if (request.url === '/gone') {
        const refuse = (): void => void response.writeHead(404).end();
        if (asked.includes('/slow')) refuse();
        else server.once('both', refuse);
      }
    });
    await assert.rejects(
      fetched([file('/slow'), file('/gone')]),
      (error) => error instanceof GatewayError && /status 404/.test(error.message),
    );
    await closed;
  });
});
