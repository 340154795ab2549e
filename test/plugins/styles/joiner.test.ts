/** Work on stored responses: where it is done, in whose turn, and that it comes to the same. */
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { createJoiner, type Run } from '../../../plugins/styles/history/joiner.ts';
import { work } from '../../../plugins/styles/history/joining.ts';
import { type TurnTexts, textOf } from '../../../plugins/styles/history/work.ts';
import { verdict } from '../../kit/gateway/drive.ts';

const LARGE = 1_000_000;
const joiner = createJoiner();
after(() => joiner.close());

/** Bytes that nobody else refers to. */
const bytesOf = (value: unknown): Uint8Array => new Uint8Array(Buffer.from(JSON.stringify(value)));
const turnOf = (text: string): TurnTexts => ({
  channel: null,
  input: bytesOf([{ type: 'message', role: 'user', content: text }]),
  response: bytesOf({ output: [{ type: 'message', id: 'msg_1', role: 'assistant', content: [] }] }),
});
const wordy = (): TurnTexts[] => ['a', 'ünï🙂', 'x'.repeat(LARGE)].map(turnOf);
const body = bytesOf({ model: 'm', input: 'And?', previous_response_id: 'resp_1' });

describe('jobs on stored responses', () => {
  it('have the same result in a thread as inline: the body, and its scan', async () => {
    const asked = () => ({ kind: 'join', body, named: [], turns: wordy() }) as const;
    const expected = work(asked());
    const done = await joiner.turn(1, LARGE, (run) => run(asked()));
    assert.ok('bytes' in expected && 'facts' in expected);
    assert.equal(textOf(done.bytes!), textOf(expected.bytes!));
    assert.deepEqual(done.facts, expected.facts);
    assert.match(textOf(done.bytes!), /ünï🙂.*And\?/);
  });

  it('transfer their buffers to the thread, but not the request', async () => {
    const turns = wordy();
    await joiner.turn(1, LARGE, (run) => run({ kind: 'join', body, named: [], turns }));
    assert.deepEqual(
      turns.map(({ input }) => input.length),
      [0, 0, 0],
    );
    assert.ok(body.length > 0);
  });

  it('refuse in a thread as inline', async () => {
    const tooLong = (run: Run) => run({ kind: 'join', body, named: [], turns: [turnOf('x'.repeat(17 << 20))] });
    for (const bytes of [0, LARGE]) {
      assert.equal(await verdict(() => joiner.turn(1, bytes, tooLong)), '400 conversation_too_long');
    }
  });

  it('run one at a time per account, with a limit on waiting requests', async () => {
    let atOnce = 0;
    let most = 0;
    let open = (): void => {};
    const opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    const use = async (): Promise<void> => {
      most = Math.max(most, ++atOnce);
      await opened;
      atOnce--;
    };
    const mine = Array.from({ length: 20 }, () => verdict(() => joiner.turn(1, LARGE, use)));
    // Neither another account nor what is small waits for them.
    await joiner.turn(2, LARGE, async () => {});
    await joiner.turn(1, 100, async () => {});
    open();
    const told = await Promise.all(mine);
    assert.equal(most, 1);
    assert.deepEqual(
      [
        told.filter((each) => each === 'ok').length,
        told.filter((each) => each === '429 concurrency_limit_exceeded').length,
      ],
      [17, 3],
    );
  });

  it('have texts of a few accounts in memory at a time', async () => {
    let atOnce = 0;
    let most = 0;
    await Promise.all(
      Array.from({ length: 12 }, (_, account) =>
        joiner.turn(account, LARGE, async () => {
          most = Math.max(most, ++atOnce);
          await new Promise((resolve) => setImmediate(resolve));
          atOnce--;
        }),
      ),
    );
    assert.equal(most, 4);
  });
});
