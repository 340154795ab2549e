/** `/v1/images/variations`: not implemented. */
import { answer, errorObject, type Route } from '../../../core/plugin.ts';
import { errors } from '../errors.ts';

/** Answers every request with 501. No vendor is called, nothing is charged. */
export const variationsRoute: Route = {
  method: 'any',
  path: '/v1/images/variations',
  access: 'public',
  cors: true,
  takes: 'none',
  about: {
    summary: 'Not implemented.',
    tag: 'Models',
    credentials: [],
    status: 501,
    errors: ['api_not_implemented'],
    answer: { type: 'object', properties: { error: { type: 'object' } } },
  },
  handle() {
    const error = errors.api_not_implemented();
    // Clients retry after a 5xx, and it will never be implemented.
    const headers = { 'content-type': 'application/json', 'x-should-retry': 'false' };
    return answer(501, JSON.stringify(errorObject(error)), headers);
  },
};
