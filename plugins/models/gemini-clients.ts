/** Calls in Gemini's own format, which no style serves: refused so that its clients show what to use instead. */
import { answer, type Route, refuse, type Style } from '../../core/plugin.ts';

/** Where clients of that format post: `/v1beta/models/x:generateContent`, some of them below `/v1`. */
const PATHS = ['/v1/models/:call*', '/v1beta/models/:call*'];

/** Answers 404 to whatever is asked of a model there, in the form in which that format has its errors. */
export function geminiCallRoutes(styles: () => Iterable<Style>): readonly Route[] {
  return PATHS.map((path) => ({
    method: 'POST',
    path,
    access: 'public',
    cors: true,
    takes: 'none',
    handle({ params }) {
      if (params.call?.includes(':') !== true) {
        refuse(405, 'method_not_allowed', 'POST is not served here; GET is.', { headers: { allow: 'GET' } });
      }
      const served = [...styles()].flatMap((style) =>
        style.path === undefined || style.asked === undefined ? [] : [`POST ${style.path} (${style.name})`],
      );
      const message = `Calls in the Gemini format are not served here. The models are called in other formats: ${served.join(', ')}.`;
      const error = { code: 404, message, status: 'NOT_FOUND' };
      return answer(404, JSON.stringify({ error }), { 'content-type': 'application/json' });
    },
  }));
}
