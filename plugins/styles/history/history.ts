/** `previous_response_id` and `item_reference`: keeps what was said in a response, and says it again where a later request refers to it. */
import type { Exchange, Host, JsonBody, JsonObject, Known, Recalled, Span, Step } from '../../../core/plugin.ts';
import { refuse } from '../../../core/plugin.ts';
import type { Issuer } from './issuer.ts';
import type { Keeping } from './keeping.ts';
import { resolveReferences } from './references.ts';
import { retold } from './retold.ts';
import { isResponseId, type Turn, type Turns } from './turns.ts';

/** A longer conversation than this has to be sent whole: about what a body may hold. */
const MAX_TURNS = 1_000;
const MAX_BYTES = 16 * 1_024 * 1_024;

export interface History {
  recall(x: Known, body: JsonBody): Promise<Recalled | undefined> | undefined;
  /** The steps that keep a response; undefined where it is not to be kept. */
  keep(x: Exchange): readonly Step[] | undefined;
}

interface HistoryTools {
  readonly turns: Turns;
  readonly issuer: Issuer;
  readonly keeping: Keeping;
  /** How long; 0 keeps nothing. */
  readonly keepMs: number;
}

export function createHistory(host: Host, { turns, issuer, keeping, keepMs }: HistoryTools): History {
  /** What each call that is under way goes on from. */
  const recalled = new WeakMap<Exchange, Turn>();
  /** What each call that is under way says for the first time, with the items that it only named. */
  const resolved = new WeakMap<Exchange, string>();

  async function recallItems(x: Known, body: JsonBody): Promise<Recalled | undefined> {
    const input = await resolveReferences(turns, x.identity.account.id, newItems(body), MAX_BYTES);
    if (input === undefined) return undefined;
    resolved.set(x, input);
    return { bytes: body.patched({ input }), channel: undefined };
  }

  async function recallTurn(x: Known, body: JsonBody, id: string): Promise<Recalled> {
    await recallItems(x, body);
    const turn = (await turns.find(x.identity.account.id, id)) ?? unknown(id, keepMs);
    if (turn.turns >= MAX_TURNS || turn.bytes > MAX_BYTES) tooLong(turn);
    const chain = await turns.chain(turn);
    // What is forgotten in the middle would be missing without a word.
    if (chain[0] === undefined || chain[0].previousId !== null) unknown(id, keepMs);
    recalled.set(x, turn);
    const items: string[] = [];
    for (const said of chain) {
      const response = said.id === id ? await issuer.current(turn, said.response) : said.response;
      const { output } = JSON.parse(response) as JsonObject;
      const answered = Array.isArray(output) ? retold(output, said.channel) : [];
      items.push(listed(said.input), listed(JSON.stringify(answered)));
    }
    const said = listed(resolved.get(x) ?? newItems(body));
    if (turn.bytes + said.length > MAX_BYTES) tooLong(turn);
    items.push(said);
    return {
      bytes: body.patched({
        input: `[${items.filter((text) => text !== '').join(',')}]`,
        previous_response_id: undefined,
      }),
      channel: turn.channel ?? undefined,
    };
  }

  return {
    recall(x, body) {
      keeping.decide(x, body, sizeOf(body.members.get('input')));
      const id = body.get('previous_response_id');
      if (typeof id === 'string') return recallTurn(x, body, id);
      return body.bytes.includes('"item_reference"') ? recallItems(x, body) : undefined;
    },

    keep(x) {
      const budget = keeping.budgetFor(x);
      if (budget === undefined || x.outcome !== 'served' || x.identity === undefined) return undefined;
      const body = x.call.earlier?.body ?? x.call.body;
      const response = x.answer();
      if (response === undefined || !isResponseId(response.id)) return undefined;
      // A vendor that says it keeps nothing cannot be told the id.
      const isIssued = x.served?.style === 'responses' && response.store !== false;
      return turns.steps({
        accountId: x.identity.account.id,
        id: response.id,
        channel: isIssued ? x.served.channel.name : null,
        input: resolved.get(x) ?? newItems(body),
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

const QUOTE = 0x22;
const OPEN_ARRAY = 0x5b;

/** What stands in `input`, as a JSON array of items; the client's own text, for numbers that we would write in another way. */
function newItems({ bytes, members }: JsonBody): string {
  const span = members.get('input');
  const first = span && bytes[span.start];
  if (span === undefined || (first !== QUOTE && first !== OPEN_ARRAY)) return '[]';
  // Between two items a line break is as good as a space, and inside a string there must be none.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it is about them
  const text = bytes.toString('utf8', span.start, span.end).replaceAll(/[\u0000-\u001f]/g, ' ');
  return first === QUOTE ? `[{"type":"message","role":"user","content":${text}}]` : text;
}

/** A JSON array without its brackets. */
function listed(array: string): string {
  return array.slice(1, -1).trim();
}

/** The same words whether it has never been, was somebody else's, or is gone: ids of others are nobody's business. */
function unknown(id: string, keepMs: number): never {
  const why =
    keepMs === 0
      ? 'this gateway keeps none'
      : 'it is not known here, or not any more, or something before it has been deleted';
  const advice = keepMs === 0 ? '' : ', and make responses that are to be continued without `store: false`';
  refuse(
    404,
    'previous_response_not_found',
    `The response '${id.slice(0, 100)}' cannot be continued: ${why}. Send the whole conversation in \`input\`, without ` +
      `\`previous_response_id\`${advice}.`,
    { param: 'previous_response_id' },
  );
}

function tooLong({ turns }: Turn): never {
  refuse(
    400,
    'conversation_too_long',
    `The conversation has grown too long to be continued by its id: ${turns} turns. At most ${MAX_TURNS} turns and ` +
      `${MAX_BYTES / 1_024 / 1_024} MiB are. Send what is still needed of it in \`input\`, without \`previous_response_id\`.`,
    { param: 'previous_response_id' },
  );
}
