/** Serves the files of the console: read once, matched by exact name. Other paths below `/console` return the page. */
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join, resolve } from 'node:path';
import { type Answer, type ApiRequest, answer, type Route } from '../../core/plugin.ts';
import { answerIfChanged, tagOf } from './format/conditional.ts';

/** The output folder of `npm start`. */
export const DIST = resolve(import.meta.dirname, '../../console/dist');

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.webmanifest': 'application/manifest+json',
  '.woff2': 'font/woff2',
};
const CODINGS = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const;
const NONCE = '%NONCE%';

interface StaticFile {
  readonly type: string;
  readonly bytes: Buffer;
  /** Encoded contents by content coding. */
  readonly compressed: Readonly<Record<string, Buffer>>;
}
interface Files {
  readonly byName: ReadonlyMap<string, StaticFile>;
  /** Undefined if the console is not built. */
  readonly index: string | undefined;
}

/**
 * The routes. Files are read at the first request, because `turnpike check` and other commands do not need them. `paysElsewhere`: forms of
 * the page may be posted to payment providers, which redirect to URLs that are not known in advance.
 */
export function staticRoutes(dist: string, paysElsewhere: () => boolean): readonly Route[] {
  let files: Files | undefined;
  const serve = (request: ApiRequest): Answer => {
    files ??= readFiles(dist);
    return answerFor(request, files, paysElsewhere());
  };
  const at = (path: string, handle: (request: ApiRequest) => Answer): Route => ({
    method: 'GET',
    path,
    access: 'public',
    takes: 'none',
    handle,
  });
  return [
    // Relative, so that a proxy may serve the gateway below a path.
    at('/', () => answer(302, undefined, { location: 'console/' })),
    at('/login', () => answer(302, undefined, { location: 'console/' })),
    at('/console', ({ query }) => answer(302, undefined, { location: `console/${query.size > 0 ? `?${query}` : ''}` })),
    at('/console/', serve),
    at('/console/:path*', serve),
  ];
}

function answerFor({ path, headers }: ApiRequest, { byName, index }: Files, paysElsewhere: boolean): Answer {
  const name = path.slice('/console/'.length);
  const file = byName.get(name);
  if (file !== undefined) return answerFile(name, file, headers);
  // A file of an older build: the page in its place would be parsed as a script.
  if (name.startsWith('assets/') || /\.[^/]*$/.test(name)) return plain(404, 'This file does not exist.');
  if (index === undefined) return plain(503, 'The console is not built: run `npm run build:console`, or `npm start`.');
  return answerPage(name, index, paysElsewhere);
}

function plain(status: number, text: string): Answer {
  return answer(status, `${text}\n`, { 'content-type': 'text/plain; charset=utf-8' });
}

/** The best of the available codings for `Accept-Encoding` (RFC 9110, 12.5.3); undefined: none is better than the content itself. */
function codingFor(accepted: string, available: readonly string[]): string | undefined {
  const weights = new Map(
    accepted.split(',').map((part) => {
      const [coding = '', ...parameters] = part.split(';').map((each) => each.trim().toLowerCase());
      const weight = parameters.find((each) => each.startsWith('q='))?.slice(2);
      return [coding, weight === undefined ? 1 : Number(weight) || 0] as const;
    }),
  );
  const weightOf = (coding: string): number => weights.get(coding) ?? weights.get('*') ?? 0;
  let best: string | undefined;
  // Of equal weights the first in order wins: it is the smallest.
  for (const [coding] of CODINGS)
    if (available.includes(coding) && weightOf(coding) > (best === undefined ? 0 : weightOf(best))) best = coding;
  return best !== undefined && weightOf(best) >= (weights.get('identity') ?? 0) ? best : undefined;
}

function answerFile(name: string, { type, bytes, compressed }: StaticFile, headers: ApiRequest['headers']): Answer {
  const coding = codingFor(headers['accept-encoding'] ?? '', Object.keys(compressed));
  const content = coding === undefined ? bytes : compressed[coding]!;
  // The names of files below `assets` contain a hash of their content.
  const isNamedByContent = name.startsWith('assets/');
  const about = {
    'content-type': type,
    'cache-control': isNamedByContent ? 'public, max-age=31536000, immutable' : 'no-cache',
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    'cross-origin-resource-policy': 'same-origin',
    vary: 'accept-encoding',
    ...(coding !== undefined && { 'content-encoding': coding }),
  };
  return isNamedByContent
    ? answer(200, content, about)
    : answerIfChanged({ headers }, content, tagOf(content, coding && `-${coding}`), about);
}

/**
 * The page. Its files are named relative to `/console/`, so that a proxy may serve it below a path; a page at a deeper path gets a matching
 * base. Styles that are created at run time have the nonce of this response.
 */
function answerPage(name: string, index: string, paysElsewhere: boolean): Answer {
  const nonce = randomBytes(16).toString('base64');
  const up = '../'.repeat(name.split('/').length - 1) || './';
  const html = index.replace('<base href="./" />', `<base href="${up}" />`).replaceAll(NONCE, nonce);
  return answer(200, html, {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-cache, no-store',
    'content-security-policy': [
      "default-src 'none'",
      "script-src 'self'",
      `style-src 'self' 'nonce-${nonce}'`,
      "img-src 'self' data: blob:",
      "media-src 'self' data: blob:",
      "font-src 'self'",
      "connect-src 'self'",
      "manifest-src 'self'",
      "base-uri 'self'",
      // Origins that the page may open: https, or http on the browser's machine.
      `form-action 'self'${paysElsewhere ? ' https: http://localhost:* http://127.0.0.1:*' : ''}`,
      "frame-ancestors 'none'",
    ].join('; '),
    'cross-origin-opener-policy': 'same-origin',
    'permissions-policy':
      'camera=(), geolocation=(), microphone=(), publickey-credentials-get=(self), publickey-credentials-create=(self)',
  });
}

function readFiles(dist: string): Files {
  const byName = new Map<string, StaticFile>();
  if (!existsSync(dist)) return { byName, index: undefined };
  for (const entry of readdirSync(dist, { recursive: true, withFileTypes: true })) {
    const type = TYPES[extname(entry.name)];
    if (!entry.isFile() || type === undefined) continue;
    const file = join(entry.parentPath, entry.name);
    const compressed = CODINGS.filter(([, ending]) => existsSync(file + ending)).map(
      ([coding, ending]) => [coding, readFileSync(file + ending)] as const,
    );
    const name = file.slice(dist.length + 1).replaceAll('\\', '/');
    byName.set(name, { type, bytes: readFileSync(file), compressed: Object.fromEntries(compressed) });
  }
  const index = byName.get('index.html')?.bytes.toString();
  byName.delete('index.html');
  return { byName, index };
}
