/** Matches paths to handlers: on the raw path, exactly, once. */
import { coreErrors } from './contracts/errors.ts';
import type { Style } from './contracts/style.ts';
import type { GatewayError } from './errors.ts';
import type { PassthroughRoute, Route } from './plugin.ts';

type Params = Readonly<Record<string, string>>;

/** The handler of a request. */
export type Match =
  | { readonly kind: 'style'; readonly style: Style; readonly params: Params }
  | { readonly kind: 'route'; readonly route: Route; readonly params: Params }
  | { readonly kind: 'passthrough'; readonly passthrough: PassthroughRoute };

/** All handlers, by path. */
export interface Router {
  /** Throws 404 or 405. */
  find(method: string, path: string): Match;
  /** The passthrough route of a path, undefined if something else is served; throws 404 if nothing is. */
  passthroughAt(path: string): PassthroughRoute | undefined;
  /** The style whose error format a path uses, also if the request itself is refused. */
  styleAt(path: string): Style | undefined;
  /** Whether CORS is allowed for a path: for all calls, and for routes that allow it. */
  isShared(path: string): boolean;
  /** A route of a path, whatever its method; undefined if there is none. */
  routeAt(path: string): Route | undefined;
}

interface Pattern<T> {
  readonly parts: readonly string[];
  readonly at: T;
}

/** A route, and the parameters of its path. */
interface Hit {
  readonly route: Route;
  readonly params: Params;
}

/** Builds the table of all handlers. */
export function createRouter(
  styles: readonly Style[],
  routes: readonly Route[],
  passthroughRoutes: readonly PassthroughRoute[],
): Router {
  const styleByPath = new Map<string, Style>();
  const stylePatterns: Pattern<Style>[] = [];
  for (const style of styles) {
    if (style.ingress === undefined) continue;
    const { path } = style.ingress;
    if (path.includes(':')) stylePatterns.push({ parts: path.split('/'), at: style });
    else styleByPath.set(path, style);
  }
  // Paths below a style's path (`/v1/messages/count_tokens`) are used by its clients, too.
  const styleAbove = (path: string): Style | undefined => {
    for (const [above, style] of styleByPath) if (path.startsWith(`${above}/`)) return style;
    return undefined;
  };
  const exact = new Map<string, Route[]>();
  const patterns: Pattern<Route>[] = [];
  for (const route of routes) {
    if (route.path.includes(':')) patterns.push({ parts: route.path.split('/'), at: route });
    else exact.set(route.path, [...(exact.get(route.path) ?? []), route]);
  }

  const overPassthrough = (path: string): PassthroughRoute | undefined =>
    passthroughRoutes.find(({ prefix }) => path === prefix || path.startsWith(`${prefix}/`));
  const patternsAt = (path: string): Hit[] => {
    const parts = path.split('/');
    return patterns.flatMap(({ parts: pattern, at: route }) => {
      const params = matchParts(pattern, parts);
      return params === undefined ? [] : [{ route, params }];
    });
  };
  const stylePatternAt = (path: string): Extract<Match, { readonly kind: 'style' }> | undefined => {
    if (stylePatterns.length === 0) return undefined;
    const parts = path.split('/');
    for (const { parts: pattern, at: style } of stylePatterns) {
      const params = matchParts(pattern, parts);
      if (params !== undefined) return { kind: 'style', style, params };
    }
    return undefined;
  };
  const routeAt = (path: string): Route | undefined => exact.get(path)?.[0] ?? patternsAt(path)[0]?.route;
  const isServed = (path: string): boolean =>
    styleByPath.has(path) ||
    exact.has(path) ||
    stylePatternAt(path) !== undefined ||
    overPassthrough(path) !== undefined ||
    patternsAt(path).length > 0;
  const notFound = (path: string): GatewayError => {
    const tidy = path.toLowerCase().replace(/\/$/, '');
    const right = [tidy, `/v1${tidy}`, tidy.replace(/^\/v1\/v1\//, '/v1/')].find((p) => p !== path && isServed(p));
    const hint = right === undefined ? '' : ` Did you mean ${right}?`;
    return coreErrors.not_found(`The path ${path.slice(0, 200)} does not exist.${hint}`);
  };
  const wrongMethod = (method: string, allowed: readonly string[]): GatewayError =>
    coreErrors
      .method_not_allowed(`${method} is not served here; ${allowed.join(' or ')} is.`)
      .with({ headers: { allow: allowed.join(', ') } });
  /** `more`: the methods of other handlers at this path. */
  const pick = (method: string, found: readonly Hit[], ...more: readonly string[]): Match => {
    // HEAD is GET; node omits the body.
    const effective = method === 'HEAD' ? 'GET' : method;
    const hit = found.find(({ route }) => route.method === effective || route.method === 'any');
    if (hit === undefined)
      throw wrongMethod(method, [...new Set([...found.map(({ route }) => route.method), ...more])]);
    return { kind: 'route', ...hit };
  };

  return {
    find(method, path) {
      const style = styleByPath.get(path);
      if (style !== undefined) {
        if (method !== 'POST') throw wrongMethod(method, ['POST']);
        return { kind: 'style', style, params: NO_PARAMS };
      }
      const routesHere = exact.get(path);
      if (routesHere !== undefined)
        return pick(
          method,
          routesHere.map((route) => ({ route, params: {} })),
        );
      const patterned = stylePatternAt(path);
      if (patterned !== undefined && method === 'POST') return patterned;
      const passthrough = overPassthrough(path);
      if (passthrough !== undefined) return { kind: 'passthrough', passthrough };
      const found = patternsAt(path);
      if (patterned !== undefined) return pick(method, found, 'POST');
      if (found.length === 0) throw notFound(path);
      return pick(method, found);
    },
    passthroughAt(path) {
      if (!isServed(path)) throw notFound(path);
      return styleByPath.has(path) || exact.has(path) || stylePatternAt(path) !== undefined
        ? undefined
        : overPassthrough(path);
    },
    styleAt: (path) => styleByPath.get(path) ?? stylePatternAt(path)?.style ?? styleAbove(path),
    isShared: (path) =>
      styleByPath.has(path) ||
      stylePatternAt(path) !== undefined ||
      (routeAt(path)?.cors ?? overPassthrough(path) !== undefined),
    routeAt,
  };
}

const NO_PARAMS: Params = Object.freeze({});

function matchParts(pattern: readonly string[], parts: readonly string[]): Record<string, string> | undefined {
  const params: Record<string, string> = {};
  for (let i = 0; i < pattern.length; i++) {
    const expected = pattern[i]!;
    if (expected.endsWith('*') && expected.startsWith(':')) {
      const rest = parts.slice(i).join('/');
      if (rest === '') return undefined;
      params[expected.slice(1, -1)] = decode(rest);
      return params;
    }
    const part = parts[i];
    if (part === undefined) return undefined;
    if (expected.startsWith(':')) {
      if (part === '') return undefined;
      params[expected.slice(1)] = decode(part);
    } else if (expected !== part) {
      return undefined;
    }
  }
  return parts.length === pattern.length ? params : undefined;
}

/** A decoded parameter; an invalid encoding stays as it is and will match nothing. */
function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
