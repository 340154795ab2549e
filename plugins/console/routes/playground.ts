/** A call before it is made: what it may cost, where it would go, and what would be lost on the way. */
import { Catalog } from '../../../core/contracts/catalog.ts';
import { coreErrors } from '../../../core/contracts/errors.ts';
import { type Decision, Explaining } from '../../../core/contracts/explaining.ts';
import { KeyCheck } from '../../../core/contracts/key-check.ts';
import { Keys } from '../../../core/contracts/keys.ts';
import { MICRO } from '../../../core/contracts/ledger.ts';
import { Prices } from '../../../core/contracts/prices.ts';
import { type JsonObject, schema } from '../../../core/plugin.ts';
import { countedUsage } from '../../../core/translation/index.ts';
import { reaches } from '../access.ts';
import { type ApiRoute, route, type Tools } from '../route.ts';
import { boolean, idNumber, integer, text } from '../schemas.ts';

/** A conversation with a picture or two. */
const MAX_BODY = 1_024 * 1_024;

const supposed = schema<{ readonly token_id: number; readonly style: string; readonly body: JsonObject }>({
  type: 'object',
  additionalProperties: false,
  required: ['token_id', 'style', 'body'],
  properties: {
    token_id: { ...idNumber, description: 'One of the own keys.' },
    style: { ...text, description: 'One that a model answers on: `chat`.', maxLength: 64 },
    body: { type: 'object', description: 'The call, as it would be sent.' },
  },
});

/** The rows. */
export function playgroundRoutes({ host, need }: Tools): readonly ApiRoute[] {
  /** Undefined where nobody knows the model, or it has no price. */
  function priceOf(call: Decision['call']): string | undefined {
    if (call === undefined || host.find(Catalog)?.serves(call.model) !== true) return undefined;
    return host.find(Prices)?.of(call.model)?.text;
  }

  return [
    route({
      method: 'POST',
      path: '/api/playground/estimate',
      who: 'member',
      errors: ['key_not_found'],
      summary:
        'What would become of a call with one of the own keys, and what it may cost. Nothing is sent or charged.',
      tag: 'Playground',
      body: supposed,
      maxBody: MAX_BODY,
      answer: {
        title: 'Estimate',
        type: 'object',
        required: [
          ...['at_most', 'may_grow', 'input_estimate', 'output_limit', 'price', 'losses', 'would_go_to', 'refusal'],
        ],
        properties: {
          at_most: {
            type: ['integer', 'null'],
            description:
              'Quota units that are set aside for it, rounded up; null: that is not known, or it would be refused.',
          },
          may_grow: {
            ...boolean,
            description: 'at_most is a guess, and grows with the answer: the call limits not all of its output.',
          },
          input_estimate: { type: ['integer', 'null'], description: 'Tokens, by length: nobody has counted them.' },
          output_limit: { type: ['integer', 'null'], description: 'Tokens; null: the call sets no limit.' },
          price: { type: ['string', 'null'], description: 'On one line.' },
          losses: {
            type: 'array',
            items: text,
            description:
              'What cannot be carried over to where it would go first, as `x-turnpike-translation` names it.',
          },
          would_go_to: {
            type: ['array', 'null'],
            description: 'For administrators: the channels in the order in which they would be asked; else null.',
            items: {
              type: 'object',
              required: ['channel', 'model', 'style', 'state', 'asked'],
              properties: {
                channel: text,
                model: { ...text, description: 'What it is called there.' },
                style: { ...text, description: 'The one spoken there.' },
                state: text,
                asked: { ...boolean, description: 'False where it is passed over as things stand.' },
              },
            },
          },
          refusal: {
            type: ['object', 'null'],
            description: 'What the call would be refused with.',
            required: ['status', 'code', 'message'],
            properties: { status: integer, code: text, message: text },
          },
        },
      },
      async handle({ account, body: asked, ip }) {
        const holder = await need(Keys).holderById(account.id, asked.token_id);
        if (holder === undefined) {
          throw coreErrors.key_not_found(asked.token_id).with({ param: 'token_id' });
        }
        const keyCheck = need(KeyCheck);
        const decision = await need(Explaining).explain({
          holder: () => keyCheck.judge(holder),
          style: asked.style,
          body: Buffer.from(JSON.stringify(asked.body)),
          ip,
        });
        const { call, plugins, offers, refusal } = decision;
        const facts: JsonObject = Object.assign({}, ...plugins.map((one) => one.facts));
        const first = offers.find((offer) => offer.asked) ?? offers[0];
        return {
          at_most: typeof facts.most === 'string' ? unitsAbove(BigInt(facts.most)) : null,
          may_grow: facts.isGuess === true,
          input_estimate: call === undefined ? null : countedUsage(call, 0).input,
          output_limit: typeof facts.outputLimit === 'number' ? facts.outputLimit : (call?.outputTokens ?? null),
          price: priceOf(call) ?? null,
          losses: first?.losses ?? [],
          would_go_to: reaches(account.role, 'admin')
            ? offers.map(({ channel, model, style, state, asked: isAsked }) => ({
                channel,
                model,
                style,
                state,
                asked: isAsked,
              }))
            : null,
          refusal:
            refusal === undefined ? null : { status: refusal.status, code: refusal.code, message: refusal.message },
        };
      },
    }),
  ];
}

/** Micro-quota in whole quota units, rounded up. */
function unitsAbove(micro: bigint): number {
  return Number((micro + MICRO - 1n) / MICRO);
}
