/** Large bodies: what is found out about their letters of base64, and that nobody reads them differently for it. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { findBase64, noBase64, spliced } from '../../../core/bytes/base64-ranges.ts';
import type { BodyStream } from '../../../core/bytes/body-stream.ts';
import { scanJson } from '../../../core/bytes/json-body.ts';
import fc from '../../kit/fast-check.ts';

const KIB = 1_024;
/** Base64Ranges of base64, other ones in each place. */
const letters = (length: number): string =>
  Array.from({ length: Math.ceil(length / 11) }, (_, i) => `iVBORw0KG${(i % 90) + 10}`)
    .join('')
    .slice(0, length);
const image = (data: string): string => `{"messages":[{"image_url":{"url":"data:image/png;base64,${data}"}}]}`;

/** What a scan says of a body, be it a refusal. */
function factsOf(bytes: Buffer, known: ReturnType<typeof noBase64>): unknown {
  try {
    const { members, textBytes, media } = scanJson(bytes, {}, known);
    return { members: [...members].map(([name, { start, end }]) => [name, start, end]), textBytes, media };
  } catch (error) {
    return (error as Error).message;
  }
}

async function textOf(body: BodyStream | Buffer): Promise<string> {
  if (Buffer.isBuffer(body)) return body.toString();
  const pieces: Buffer[] = [];
  for await (const piece of body.read()) pieces.push(piece);
  const all = Buffer.concat(pieces);
  assert.equal(all.length, body.length);
  return all.toString();
}

describe('base64 runs in a large body', () => {
  it('are found, and offsets map correctly behind and before them', async () => {
    const bytes = Buffer.from(`${'é'.repeat(10 * KIB)}${letters(100 * KIB)}"`);
    const found = await findBase64(bytes);
    const from = found.beginning(0);
    const to = found.behind(from);
    assert.ok(from >= 20 * KIB && from < 36 * KIB, String(from));
    assert.ok(to > 104 * KIB && to <= 120 * KIB, String(to));
    assert.deepEqual([found.behind(from - 1), found.behind(to - 1), found.behind(to)], [from - 1, to, to]);
    assert.equal(found.beginning(to), bytes.length);
    assert.deepEqual(found.within(20 * KIB, 120 * KIB), { start: from, end: to });
    assert.equal(found.within(20 * KIB, to - 1), undefined);
    assert.equal(found.within(to, bytes.length), undefined);
  });

  it('do not change the result of a scan, wherever a byte differs', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.nat(),
        fc.constantFrom(...['"', '\\', '-', '=', ' ', '{', '\n', '\xc3', '\xff', 'A']),
        fc.constantFrom(...['A', '"', 'n', '\xa9', '}']),
        fc.constantFrom('url', 'data', 'text', '\\u0075rl'),
        async (place, byte, next, name) => {
          const text = image(letters(70 * KIB)).replace('"url"', `"${name}"`);
          const bytes = Buffer.from(text.replace(/\]\}$/, `],"file_data":"${letters(40 * KIB)}","model":"é"}`));
          const at = place % (bytes.length - 1);
          bytes.write(byte + next, at, 'latin1');
          assert.deepEqual(factsOf(bytes, await findBase64(bytes)), factsOf(bytes, noBase64(bytes)));
        },
      ),
      { numRuns: 300 },
    );
  });

  it('are left out of a translation if they are an image, and restored on the way out', async () => {
    const text = image(letters(70 * KIB));
    const bytes = Buffer.from(text);
    const { tree, bytesOf } = scanJson(bytes, {}, await findBase64(bytes)).outline();
    const said = JSON.stringify(tree);
    assert.ok(said.length < 40 * KIB, `${said.length} characters are left`);
    assert.match(said, /^\{"messages":\[\{"image_url":\{"url":"data:image\/png;base64,iVBORw0KG/);
    assert.equal(said.length % 4, text.length % 4);
    assert.equal(await textOf(spliced(said, bytesOf)), text);
  });

  it('are kept if they may be text, or are not media', async () => {
    for (const text of [
      image(letters(70 * KIB)).replace('image/png;base64,iVBORw0KG', 'text/plain;base64,SGVsbG8s'),
      image(letters(70 * KIB)).replace('"url"', '"text"'),
    ]) {
      const bytes = Buffer.from(text);
      const body = scanJson(bytes, {}, await findBase64(bytes));
      assert.deepEqual(body.outline(), { tree: body.tree(), bytesOf: new Map() });
    }
  });

  it('are not copied for a vendor of the same style', async () => {
    const bytes = Buffer.from(image(letters(70 * KIB)).replace(/^\{/, '{"model":"a","user":"b",'));
    const body = scanJson(bytes, {}, await findBase64(bytes));
    const changes = { model: '"c"', user: undefined, n: '1' };
    const pieces = body.pieces(changes);
    assert.equal(Buffer.concat(pieces).toString(), body.patched(changes).toString());
    const longest = pieces.reduce((one, other) => (one.length > other.length ? one : other));
    assert.equal(longest.buffer, bytes.buffer);
  });
});
