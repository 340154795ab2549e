/** The official client of the chat and the responses style, before vendors of every kind. */
import { matrix } from './matrix.ts';
import { chatClient } from './openai-chat.ts';
import { responsesClient } from './openai-responses.ts';

matrix([
  chatClient,
  responsesClient('openai, responses,', false),
  responsesClient('openai, responses, by the id of the earlier one,', true),
]);
