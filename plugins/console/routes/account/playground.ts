/** Explains a call without making it: estimated cost, channels, warnings. */

import { Catalog } from '../../../../core/contracts/catalog.ts';
import { coreErrors } from '../../../../core/contracts/errors.ts';
import { type Decision, Explaining } from '../../../../core/contracts/explaining.ts';
import { KeyCheck } from '../../../../core/contracts/key-check.ts';
import { Keys } from '../../../../core/contracts/keys.ts';
import { Prices } from '../../../../core/contracts/prices.ts';
import type { JsonObject } from '../../../../core/plugin.ts';
import { countedUsage } from '../../../../core/translation/index.ts';
import { reaches } from '../../access/guards.ts';
import { bodyOf, boolean, idNumber, integer, object, objectOrNull, record, text } from '../../format/schemas.ts';
import { unitsAbove } from '../../format/units.ts';
import { type ApiRoute, tagged } from '../../route.ts';
import type { Tools } from '../../tools.ts';

const route = tagged('Playground');

/** The maximum body size: a conversation with an image or two. */
const MAX_BODY = 1_024 * 1_024;

const supposed = bodyOf(['token_id', 'style', 'body'], {
  token_id: { ...idNumber, description: 'One of your keys.' },
  style: {
    ...text,
    description:
      'The API style of the call: `chat`, `responses`, `messages`, `completions`, `embeddings`, `images`, `edits`, `speech`, `transcription`, `translation`, or one of a plugin.',
    examples: ['chat'],
    maxLength: 64,
  },
  body: { type: 'object', description: 'The body of the call.' },
});

export function playgroundRoutes({ host, need }: Tools): readonly ApiRoute[] {
  /** Undefined if the model is unknown or has no price. */
  function priceOf(call: Decision['call']): string | undefined {
    if (call === undefined || host.find(Catalog)?.serves(call.model) !== true) return undefined;
    return host.find(Prices)?.of(call.model)?.text;
  }

  return [
    route('member', 'POST', '/api/playground/estimate', {
      errors: ['key_not_found'],
      summary: 'Explains what a call with one of your keys would do and what it may cost. Nothing is sent or charged.',
      body: supposed,
      maxBody: MAX_BODY,
      answer: record('Estimate', {
        at_most: {
          type: ['integer', 'null'],
          description: 'The reservation in quota units, rounded up; null: unknown, or the call would be refused.',
        },
        may_grow: {
          ...boolean,
          description:
            'at_most is an estimate that grows with the answer, because the call does not limit all of its output.',
        },
        input_estimate: { type: ['integer', 'null'], description: 'Tokens, estimated from the length of the input.' },
        output_limit: { type: ['integer', 'null'], description: 'Tokens; null: the call sets no limit.' },
        price: { type: ['string', 'null'], description: 'The whole price on one line.' },
        losses: {
          type: 'array',
          items: text,
          description: 'Warnings of the translation for the first channel, as in `x-turnpike-translation`.',
        },
        would_go_to: {
          type: ['array', 'null'],
          description: 'For administrators: the channels in the order of upstream attempts; otherwise null.',
          items: object({
            channel: text,
            model: { ...text, description: 'The upstream model.' },
            style: { ...text, description: 'The API style of the channel.' },
            state: text,
            asked: { ...boolean, description: 'False: currently skipped, because its circuit is open.' },
          }),
        },
        refusal: objectOrNull('The error that would refuse the call.', { status: integer, code: text, message: text }),
      }),
      async handle({ account, body: draft, ip }) {
        const holder = await need(Keys).holderById(account.id, draft.token_id);
        if (holder === undefined) {
          throw coreErrors.key_not_found(draft.token_id).with({ param: 'token_id' });
        }
        const keyCheck = need(KeyCheck);
        const decision = await need(Explaining).explain({
          holder: () => keyCheck.judge(holder),
          style: draft.style,
          body: Buffer.from(JSON.stringify(draft.body)),
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
          losses: first?.warnings ?? [],
          would_go_to: reaches(account.role, 'admin')
            ? offers.map(({ channel, model, style, state, asked: isTried }) => ({
                channel,
                model,
                style,
                state,
                asked: isTried,
              }))
            : null,
          refusal:
            refusal === undefined ? null : { status: refusal.status, code: refusal.code, message: refusal.message },
        };
      },
    }),
  ];
}
