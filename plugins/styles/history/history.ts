/** `previous_response_id` and `item_reference`: keeps responses, and restores their content when a later request refers to them. */
import { keyNameOf } from '../../../core/contracts/formats/channel.ts';
import type { Exchange, Host, JsonBody, Known, Recalled, Span, Step } from '../../../core/plugin.ts';
import { slot } from '../../../core/plugin.ts';
import { knownJson } from '../../../core/translation/index.ts';
import { errors } from '../errors.ts';
import type { Issuer } from './issuer.ts';
import type { Joiner, Run } from './joiner.ts';
import { MAX_BYTES, MAX_TURNS, newItems, tooLong } from './joining.ts';
import type { Keeping } from './keeping.ts';
import { namesTooMuch } from './references.ts';
import { isResponseId, type Turn, type Turns } from './turns.ts';
import { bufferOf, type Joined, textOf } from './work.ts';

interface HistoryTools {
  readonly turns: Turns;
  readonly issuer: Issuer;
  readonly keeping: Keeping;
  readonly joiner: Joiner;
  /** How long responses are stored; 0: none is stored. */
  readonly keepMs: number;
}

/** The response that a call continues. */
const recalled = slot<Turn>('styles.recalled');
/** The new input of a call, with the items that it only referenced. */
const resolved = slot<Uint8Array>('styles.resolved');

export function createHistory(host: Host, { turns, issuer, keeping, joiner, keepMs }: HistoryTools) {
  /** The responses of this account whose items a request references. */
  async function namedBy(x: Known, body: JsonBody, run: Run): Promise<readonly Uint8Array[]> {
    if (!namesItems(body)) return [];
    const named: Uint8Array[] = [];
    let left = MAX_BYTES;
    for (const id of await run({ kind: 'find', body: body.bytes })) {
      const turn = await turns.find(x.identity.account.id, id);
      if (turn === undefined) continue;
      const response = await turns.responseBytes(turn, left);
      // It exists, so it is too large.
      if (response === undefined) namesTooMuch(MAX_BYTES);
      x.hold(response.length);
      left -= response.length;
      named.push(response);
    }
    return named;
  }

  function recallItems(x: Known, body: JsonBody): Promise<Recalled | undefined> {
    return joiner.turn(x.identity.account.id, sizeOf(body.members.get('input')), async (run) => {
      const named = await namedBy(x, body, run);
      return join(x, await run({ kind: 'join', body: body.bytes, named, turns: undefined }), undefined);
    });
  }

  async function recallTurn(x: Known, body: JsonBody, id: string): Promise<Recalled | undefined> {
    const accountId = x.identity.account.id;
    const turn = (await turns.find(accountId, id)) ?? unknown(id, keepMs);
    if (turn.turns >= MAX_TURNS || turn.bytes > MAX_BYTES) tooLong(turn.turns);
    x.hold(turn.bytes);
    return joiner.turn(accountId, turn.bytes + sizeOf(body.members.get('input')), async (run) => {
      const named = await namedBy(x, body, run);
      const chain = await turns.chain(turn);
      // If a turn in the middle has expired, the conversation would be incomplete without any notice.
      if (chain[0] === undefined || chain[0].previousId !== null) unknown(id, keepMs);
      const before = chain.slice(0, -1);
      const last = chain.at(-1)!;
      const response = await issuer.currentBytes(turn, x.identity, last.response);
      recalled.set(x, turn);
      const all = [...before, { ...last, response }].map(({ channel, input, response: output }) => ({
        channel,
        input,
        response: output,
      }));
      return join(x, await run({ kind: 'join', body: body.bytes, named, turns: all }), turn.channel ?? undefined);
    });
  }

  function join(
    x: Known,
    { bytes, facts, resolved: output }: Joined,
    channel: string | undefined,
  ): Recalled | undefined {
    if (output !== undefined) resolved.set(x, output);
    if (bytes === undefined || facts === undefined) return undefined;
    return { body: knownJson(bufferOf(bytes), facts), channel };
  }

  return {
    recall(x: Known, body: JsonBody): Promise<Recalled | undefined> | undefined {
      keeping.decide(x, body, sizeOf(body.members.get('input')));
      const id = body.get('previous_response_id');
      if (typeof id === 'string') return recallTurn(x, body, id);
      return namesItems(body) ? recallItems(x, body) : undefined;
    },

    /** The steps that store a response; undefined if it is not stored. */
    keep(x: Exchange): readonly Step[] | undefined {
      const budget = keeping.budgetFor(x);
      if (budget === undefined || x.identity === undefined) return undefined;
      // Its client may come back for one that goes on in the background.
      const response = x.outcome === 'served' ? x.answer() : x.pending();
      if (response === undefined || x.call.operation !== undefined) return undefined;
      const body = x.call.earlier?.body ?? x.call.body;
      if (!isResponseId(response.id)) return undefined;
      const output = resolved.get(x);
      // A vendor that does not keep the response cannot resolve the id, and no vendor knows the id of a response that the
      // gateway wrote.
      const isOurs = response.id === `resp_${x.id}`;
      const isIssued = x.served?.style === 'responses' && response.store !== false && !isOurs;
      return turns.steps({
        accountId: x.identity.account.id,
        keyId: x.identity.key.id,
        id: response.id,
        channel: isIssued ? keyNameOf(x.served.channel) : null,
        input: output === undefined ? newItems(body) : textOf(output),
        response: JSON.stringify(response),
        before: recalled.get(x),
        expiresMs: host.clock.now() + keepMs,
        budget,
      });
    },
  };
}

function sizeOf(span: Span | undefined): number {
  return span === undefined ? 0 : span.end - span.start;
}

function namesItems(body: JsonBody): boolean {
  return body.holds('"item_reference"');
}

/**
 * The message is the same whether the response never existed, is another account's, or has expired, so that ids of
 * others are not revealed.
 */
function unknown(id: string, keepMs: number): never {
  const why =
    keepMs === 0
      ? 'this gateway stores no responses'
      : 'it is unknown or expired, or an earlier response of the conversation was deleted';
  const advice = keepMs === 0 ? '' : ', and do not set `store: false` on responses that you want to continue';
  throw errors.previous_response_not_found(id.slice(0, 100), why, advice);
}
