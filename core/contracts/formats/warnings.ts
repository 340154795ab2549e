/** What a translation reports: what it dropped, changed or refused. */

/**
 * Collects the warnings of a translation. Fields have the names of the chat style (`max_tokens`, `stop`, `top_k`,
 * `response_format`, `reasoning_effort`, `messages`, `tools`, `tool_choice`, `user`, …; parts of them with a dot:
 * `image.detail`, `tools.strict`); core converts them to the client's names.
 */
export interface Warnings {
  /** Dropped. `hint`: it would not have changed the answer (labels, cache hints): allowed even in strict mode. */
  drop(field: string, kind?: 'hint'): void;
  /** Dropped: a top-level field of the client that the vendor's style does not have, by the client's name. */
  leave(name: string, kind?: 'hint'): void;
  /** Changed: clamped, emulated or wrapped. */
  change(field: string, kind?: 'hint'): void;
  /** Omitted: a part of the vendor's answer that the client's style cannot show (`web_search_call`, `citations`). */
  omit(what: string): void;
  /** The client's name of a field, for an error that is reported in another way. */
  nameOf(field: string): string;
  /** Refuses the call with 400; the message starts with the client's name of the field and ends with `why`. */
  refuse(field: string, why: string): never;
  /** The same for what can be decoded but not translated: if a plugin only looks at the request, decoding continues. */
  bar(field: string, why: string): void;
}
