/** Which handler a path belongs to: matched on the raw path, exactly, once. */
import type { Style } from './contracts/style.ts';
import { GatewayError } from './errors.ts';
import type { Passage, Route } from './plugin.ts';

/** What a request reached. */
export type Match =
  | { readonly kind: 'style'; readonly style: Style }
  | { readonly kind: 'route'; readonly route: Route; readonly params: Readonly<Record<string, string>> }
  | { readonly kind: 'passage'; readonly passage: Passage };

export interface Router {
  /** Throws 404 or 405. */
  find(method: string, path: string): Match;
  /** The style whose errors a path speaks, also where the request itself is refused. */
  styleAt(path: string): Style | undefined;
}

interface Pattern {
  readonly parts: readonly string[];
  readonly route: Route;
}

export function createRouter(styles: readonly Style[], routes: readonly Route[], passages: readonly Passage[]): Router {
  const styleByPath = new Map(styles.map((style) => [style.path, style]));
  const exact = new Map<string, Route[]>();
  const patterns: Pattern[] = [];
  for (const route of routes) {
    if (route.path.includes(':')) patterns.push({ parts: route.path.split('/'), route });
    else exact.set(route.path, [...(exact.get(route.path) ?? []), route]);
  }

  const notFound = (path: string): GatewayError => {
    const known = (candidate: string): boolean => styleByPath.has(candidate) || exact.has(candidate);
    const right = [`/v1${path}`, path.replace(/^\/v1\/v1\//, '/v1/'), path.replace(/\/+$/, '')].find(
      (p) => p !== path && known(p),
    );
    const hint = right === undefined ? '' : ` Did you mean ${right}?`;
    return new GatewayError(404, 'not_found', `There is nothing at ${path.slice(0, 200)}.${hint}`);
  };
  const wrongMethod = (method: string, allowed: readonly string[]): GatewayError =>
    new GatewayError(405, 'method_not_allowed', `${method} is not served here; ${allowed.join(' or ')} is.`, {
      headers: { allow: allowed.join(', ') },
    });
  const pick = (method: string, found: readonly { route: Route; params: Record<string, string> }[]): Match => {
    // A HEAD is a GET whose body node leaves out.
    const wanted = method === 'HEAD' ? 'GET' : method;
    const hit = found.find(({ route }) => route.method === wanted);
    if (hit === undefined) throw wrongMethod(method, [...new Set(found.map(({ route }) => route.method))]);
    return { kind: 'route', ...hit };
  };

  return {
    find(method, path) {
      const style = styleByPath.get(path);
      if (style !== undefined) {
        if (method !== 'POST') throw wrongMethod(method, ['POST']);
        return { kind: 'style', style };
      }
      const routesHere = exact.get(path);
      if (routesHere !== undefined)
        return pick(
          method,
          routesHere.map((route) => ({ route, params: {} })),
        );
      const passage = passages.find(({ prefix }) => path === prefix || path.startsWith(`${prefix}/`));
      if (passage !== undefined) return { kind: 'passage', passage };
      const parts = path.split('/');
      const found = patterns.flatMap(({ parts: pattern, route }) => {
        const params = matchParts(pattern, parts);
        return params === undefined ? [] : [{ route, params }];
      });
      if (found.length === 0) throw notFound(path);
      return pick(method, found);
    },
    styleAt: (path) => styleByPath.get(path),
  };
}

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

/** A parameter as text; one that is not encoded properly stays as it came and will name nothing. */
function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
