/**
 * Which routes a key of LiteLLM may call. A key here calls all routes of models, so one that could call fewer of them is disabled. Facts:
 * BerriAI/litellm 1.110.2, litellm/proxy/auth/route_checks.py (`is_virtual_key_allowed_to_call_route`), `LiteLLMRoutes` in litellm/proxy/_types.py.
 */

/** The routes of models that this gateway has, as LiteLLM names them, and the words in lists of routes that stand for them. */
const ROUTES: Readonly<Record<string, readonly string[]>> = {
  openai_routes: [
    ...['/v1/chat/completions', '/v1/completions', '/v1/embeddings', '/v1/images/generations', '/v1/images/edits'],
    ...['/v1/audio/speech', '/v1/audio/transcriptions', '/v1/responses', '/v1/models', '/v1/files', '/v1/batches'],
  ],
  anthropic_routes: ['/v1/messages', '/v1/messages/count_tokens'],
};
/** Words that stand for all of them. */
const EVERY = new Set(['llm_api_routes', 'llm_api_routes_without_mcp']);

/** Which routes of models such a list allows; an empty one allows every route. */
export function routesOf(allowed: readonly string[]): 'all' | 'some' | 'none' {
  if (allowed.length === 0 || allowed.some((each) => EVERY.has(each))) return 'all';
  const routes = Object.entries(ROUTES).flatMap(([word, its]) => its.map((route) => ({ word, route })));
  const covered = routes.filter(({ word, route }) => allowed.some((each) => each === word || matches(each, route)));
  if (covered.length === routes.length) return 'all';
  const isOther = allowed.some(
    (each) => each.endsWith('_api_routes') || /^\/(?:chat|embeddings|completions|responses|images|audio)/.test(each),
  );
  return covered.length > 0 || isOther ? 'some' : 'none';
}

/** An entry is a route, the beginning of a path, or ends with a star. */
function matches(entry: string, route: string): boolean {
  if (entry.endsWith('*')) return route.startsWith(entry.slice(0, -1));
  return route === entry || route.startsWith(`${entry}/`);
}
