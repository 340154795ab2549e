/** Matches paths to handlers: on the raw path, exactly, once. */
import { coreErrors } from '../contracts/errors.ts';
import type { Style } from '../contracts/formats/style.ts';
import type { GatewayError } from '../contracts/gateway-error.ts';
import type { PassthroughRoute, Route } from '../plugin.ts';
import { ALL_METHODS } from './request-head.ts';

type Params = Readonly<Record<string, string>>;

/** The handler of a request. */
export type Match =
  | { readonly kind: 'style'; readonly style: Style; readonly params: Params }
  | { readonly kind: 'route'; readonly route: Route; readonly params: Params }
  | { readonly kind: 'passthrough'; readonly passthrough: PassthroughRoute };

/** All handlers, by path. */
export interface Router {
  /** The path that serves this one: another one if nothing is served here, and its prefix is the alias of another. */
  resolve(path: string): string;
  /** Throws 404 or 405. */
  find(method: string, path: string): Match;
  /** The methods of a path, for `Allow`; throws 404 if nothing is served there. */
  methodsAt(path: string): readonly string[];
  /** The passthrough route of a path, undefined if something else is served; throws 404 if nothing is. */
  passthroughAt(path: string): PassthroughRoute | undefined;
  /** The style whose error format a path uses, also if the request itself is refused. */
  styleAt(path: string): Style | undefined;
  /**
   * Whether CORS is allowed for a path: for all calls, for routes that allow it, and for paths that do not exist, so that pages can read that
   * they do not.
   */
  isShared(path: string): boolean;
  /** A route of a path, whatever its method; undefined if there is none. */
  routeAt(path: string): Route | undefined;
  /** The route whose error format a path uses: one of this path, otherwise a neighbour with its own format, unless calls are served there. */
  formatAt(path: string): Route | undefined;
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
  pathAliases: Readonly<Record<string, string>> = {},
): Router {
  const aliases = Object.entries(pathAliases).map(([prefix, path]) => ({
    parts: `${prefix}/:rest*`.split('/'),
    folder: `${prefix.split('/', 2).join('/')}/`,
    path,
  }));
  const styleByPath = new Map<string, Style>();
  const stylePatterns: Pattern<Style>[] = [];
  for (const style of styles) {
    if (style.ingress === undefined) continue;
    const { path, operations = [] } = style.ingress;
    if (path.includes(':')) stylePatterns.push({ parts: path.split('/'), at: style });
    else for (const below of ['', ...operations]) styleByPath.set(path + below, style);
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
  /** A route with its own error format in the folder of a path: `/api`. */
  const neighbourOf = (path: string): Route | undefined => {
    const folder = `${path.split('/', 2).join('/')}/`;
    const isOfCalls = styles.some(({ ingress }) => ingress?.path.startsWith(folder));
    return isOfCalls ? undefined : routes.find((route) => route.error !== undefined && route.path.startsWith(folder));
  };
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
  /** `more`: the methods of other handlers at this path. */
  const pick = (method: string, found: readonly Hit[], ...more: readonly string[]): Match => {
    // HEAD is GET; node omits the body. A GET that changes something would do so without an answer that says what.
    const isHead = method === 'HEAD';
    const hit = found.find(
      ({ route }) =>
        (route.method === 'any' || route.method === (isHead ? 'GET' : method)) && !(isHead && route.changes === true),
    );
    if (hit === undefined) {
      const allowed = served([...found.map(({ route }) => route.method), ...more]);
      // HEAD of a GET that changes something.
      throw methodNotAllowed(
        method,
        allowed.filter((each) => each !== method),
      );
    }
    return { kind: 'route', ...hit };
  };

  return {
    resolve(path) {
      // Of nearly every request, the first segment says that there is none.
      if (!aliases.some(({ folder }) => path.startsWith(folder)) || isServed(path)) return path;
      const parts = path.split('/');
      for (const alias of aliases) {
        if (matchParts(alias.parts, parts) === undefined) continue;
        const served = [alias.path, ...parts.slice(alias.parts.length - 1)].join('/');
        if (isServed(served)) return served;
      }
      return path;
    },
    find(method, path) {
      const style = styleByPath.get(path);
      if (style !== undefined) {
        if (method !== 'POST') throw methodNotAllowed(method, served(['POST']));
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
    methodsAt(path) {
      if (!isServed(path)) throw notFound(path);
      if (styleByPath.has(path)) return served(['POST']);
      const routesHere = exact.get(path);
      if (routesHere !== undefined) return served(routesHere.map(({ method }) => method));
      if (overPassthrough(path) !== undefined) return ALL_METHODS;
      const post = stylePatternAt(path) === undefined ? [] : ['POST'];
      return served([...patternsAt(path).map(({ route }) => route.method), ...post]);
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
      (routeAt(path)?.cors ?? (overPassthrough(path) !== undefined || !isServed(path))),
    routeAt,
    formatAt: (path) => routeAt(path) ?? (isServed(path) ? undefined : neighbourOf(path)),
  };
}

/** The methods of routes as those of HTTP: HEAD is served with GET, and OPTIONS everywhere. */
function served(methods: readonly string[]): readonly string[] {
  if (methods.includes('any')) return ALL_METHODS;
  return [...new Set([...methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])), 'OPTIONS'])];
}

/** Refuses (405) a method that a path does not have. */
export function methodNotAllowed(method: string, allowed: readonly string[]): GatewayError {
  const names = allowed.filter((each) => each !== 'HEAD' && each !== 'OPTIONS');
  return coreErrors
    .method_not_allowed(`${method} is not served here; ${names.join(' or ')} is.`)
    .with({ headers: { allow: allowed.join(', ') } });
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

/** A decoded parameter. `readHead` refuses invalid encodings, but its refusal, too, has the format of a path. */
function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Core's own routes, in every generation. */
export const CORE_PATHS = { alive: '/healthz', ready: '/readyz' } as const;
