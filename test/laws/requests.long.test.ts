/** What is asked in a style is the same after it has been written in that style and read again. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import type { Conversation } from '../../core/contracts/formats/conversation.ts';
import { GatewayError } from '../../core/contracts/gateway-error.ts';
import { adapt } from '../../core/translation/adapt/adapt.ts';
import { mergeSame } from '../../core/translation/adapt/turns.ts';
import { collectWarnings } from '../../core/translation/warnings/warnings.ts';
import { conversations } from '../kit/conversations/conversations.ts';
import { CLIENTS, reread, targetOf } from './halves.ts';
import { law } from './law.ts';
import { MEANS } from './means.ts';

describe('a request', () => {
  for (const client of CLIENTS) {
    const { conversations: within, quirks } = MEANS[client.name];

    law(`within the means of ${client.name} is read as it was written, and nothing is lost`, 200, within, (said) => {
      const { conversation, warnings } = reread(client, said, targetOf(client.spoken, quirks(said)));
      assert.deepEqual(joined(conversation), said);
      assert.deepEqual(warnings.all, []);
    });

    // What has no place there is gone after the first time, and what that moves to another place after the second.
    law(`that was once said in ${client.name} can be said there again and again`, 150, conversations, (any) => {
      const to = targetOf(client.spoken);
      let settled: Conversation;
      try {
        const { conversation } = adapt(any, client.name, to, collectWarnings({}));
        settled = reread(client, reread(client, conversation, to).conversation, to).conversation;
      } catch (error) {
        if (error instanceof GatewayError) return;
        throw error;
      }
      assert.deepEqual(joined(reread(client, settled, to).conversation), joined(settled));
    });
  }
});

/** Neighbours of one side are one turn, as they are for every vendor. */
function joined(conversation: Conversation): Conversation {
  return { ...conversation, turns: mergeSame(conversation.turns, collectWarnings({})) };
}
