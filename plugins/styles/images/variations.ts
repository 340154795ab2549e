/** `/v1/images/variations`: reserved, and open to nobody. */
import { answer, errorObject, type Route } from '../../../core/plugin.ts';
import { errors } from '../errors.ts';

/** Answers 501 to any request, whoever asks and whatever is in it. No vendor is asked, nothing is charged. */
export const variationsRoute: Route = {
  method: 'any',
  path: '/v1/images/variations',
  access: 'public',
  cors: true,
  takes: 'none',
  about: {
    summary: 'Reserved, and not implemented.',
    tag: 'Models',
    credentials: [],
    status: 501,
    errors: ['api_not_implemented'],
    answer: { type: 'object', properties: { error: { type: 'object' } } },
  },
  handle() {
    const error = errors.api_not_implemented();
    // Clients try again after a 5xx, and it will never be there.
    const headers = { 'content-type': 'application/json', 'x-should-retry': 'false' };
    return answer(501, JSON.stringify(errorObject(error)), headers);
  },
};
