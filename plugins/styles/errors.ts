/** The errors of the client APIs that no other plugin returns. */
import { defineErrors } from '../../core/sdk.ts';

/** By their codes. */
export const errors = {
  ...defineErrors({
    invalid_form: {
      status: 400,
      help: 'The multipart body is malformed: it has no boundary, no end, or a part without a name.',
    },
    conversation_too_long: {
      status: 400,
      help: 'The conversation is too long to be continued by its id. Start a new conversation with the messages that are still needed.',
    },
    previous_response_not_found: {
      status: 404,
      param: 'previous_response_id',
      text: (id: string, why: string, advice: string) =>
        `The response '${id}' cannot be continued: ${why}. Send the whole conversation in \`input\`, without \`previous_response_id\`${advice}.`,
      help: 'The account has no such response, or it is no longer stored. Send the whole conversation in `input`.',
    },
  }),
  ...defineErrors(
    {
      response_not_found: {
        status: 404,
        param: 'id',
        text: (id: string) => `There is no response '${id}'.`,
        help: 'The account has no such response, or it is no longer stored.',
      },
      api_not_implemented: {
        status: 501,
        help: '`/v1/images/variations` is not implemented. To change an image, use `/v1/images/edits`.',
      },
    },
    'request',
  ),
};
