import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { describe, it } from 'node:test';
import { AnswerBody } from '../../../core/http/chunked-body.ts';

/** What comes over the wire where `write` writes a body. */
async function onTheWire(version: '1.0' | '1.1', write: (body: AnswerBody) => void): Promise<string> {
  const server = createServer((_request, response) => {
    response.sendDate = false;
    response.writeHead(200, ['x-a', 'b']);
    write(new AnswerBody(response));
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.write(`GET / HTTP/${version}\r\nhost: a\r\nconnection: close\r\n\r\n`);
  let text = '';
  for await (const chunk of socket) text += String(chunk);
  server.close();
  return text.slice(text.indexOf('\r\n\r\n') + 4);
}

describe('a response body without content-length', () => {
  it('is sent as chunks with their sizes in bytes, without empty ones', async () => {
    const body = await onTheWire('1.1', (answer) => {
      answer.write('gr\u00fcn');
      answer.write('');
      answer.write(Buffer.from('x'.repeat(20)));
      answer.end('last');
    });
    assert.equal(body, `5\r\ngr\u00fcn\r\n14\r\n${'x'.repeat(20)}\r\n4\r\nlast\r\n0\r\n\r\n`);
  });

  it('has pieces of all sizes in order, and reports when each was written', async () => {
    const small = Buffer.from('y'.repeat(10));
    const middle = Buffer.from('z'.repeat(10_000));
    const large = Buffer.from('x'.repeat(20_000));
    let written = 0;
    const body = await onTheWire('1.1', (answer) => {
      for (const piece of [small, small, middle, large, small, 'text', small]) answer.write(piece, () => written++);
      answer.end(small);
    });
    const [a, b, c] = [`a\r\n${small}\r\n`, `2710\r\n${middle}\r\n`, `4e20\r\n${large}\r\n`];
    assert.equal(body, `${a}${a}${b}${c}${a}4\r\ntext\r\n${a}${a}0\r\n\r\n`);
    assert.equal(written, 7);
  });

  it('has a large piece in one chunk', async () => {
    const large = 'x'.repeat(100_000);
    const body = await onTheWire('1.1', (answer) => {
      answer.write(large);
      answer.end(large);
    });
    assert.equal(body, `186a0\r\n${large}\r\n186a0\r\n${large}\r\n0\r\n\r\n`);
  });

  it('has trailers after its last chunk, and throws if one is invalid', async () => {
    let refused: unknown;
    const body = await onTheWire('1.1', (answer) => {
      try {
        answer.end('a', { 'x-b': 'c\r\nd: e' });
      } catch (error) {
        refused = error;
      }
      answer.end('a', { 'x-b': 'c' });
    });
    assert.equal(body, '1\r\na\r\n0\r\nx-b: c\r\n\r\n');
    assert.ok(refused instanceof TypeError);
  });

  it('is sent unchunked to an HTTP/1.0 client', async () => {
    const body = await onTheWire('1.0', (answer) => {
      answer.write('a');
      answer.end('b', { 'x-b': 'c' });
    });
    assert.equal(body, 'ab');
  });
});
