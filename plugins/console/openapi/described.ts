/** What the document of /api describes. */
import type { Guard, KnownError, Route, Style } from '../../../core/plugin.ts';

/** Facts about the whole API. */
export interface Described {
  readonly title: string;
  readonly version: string;
  /** `https://gateway.example.com` */
  readonly url: string;
  readonly sessionCookie: string;
  readonly routes: readonly Route[];
  readonly styles: Iterable<Style>;
  readonly guards: ReadonlyMap<string, Guard>;
  readonly errors: ReadonlyMap<string, KnownError>;
}
