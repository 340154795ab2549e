/** What a secret looks like: one list for the log, for the masks of gateway.yaml, and for the warnings of `check` and `doctor`. */

/** A shorter secret would also hide innocent text. */
export const SHORTEST_SECRET = 8;

// ---- by the name of its field

// This test is cheap and false for nearly every name.
const secretEnding =
  /(?:key|secret|token|password|passwd|passphrase|passcode|pass|pwd|authorization|bearer|cookie|credentials?|dsn|salt|pepper|pin|otp|hmac)$/i;
const secretWord = new RegExp(`(?:^|[^a-z0-9]|api)${secretEnding.source}`, 'i');

/** True if a field of this name contains a credential: `key`, `apiKey`, `x-api-key`, `SOME_API_KEY`. */
export function isSecretName(name: string): boolean {
  if (!secretEnding.test(name)) return false;
  return secretWord.test(name.replace(/([a-z0-9])([A-Z])/g, '$1-$2'));
}

/** Words within such a name, and compound ones: `clientsecret`, `secretKeyBase`, `accesskey`. */
const WORDS_IN_NAMES = /secret|passw|passphrase|(?:access|auth|master|private|sign(?:ing)?)key|[a-z]token$/i;

/** The same for texts: lists of secrets have plural names, several secrets numbered ones. Numbers under such a name are amounts. */
export function isNameOfTexts(name: string): boolean {
  const one = name.replace(/[_-]?\d+$/, '').replace(/s$/i, '');
  return isSecretName(name) || isSecretName(one) || WORDS_IN_NAMES.test(one);
}

// ---- by its form

/**
 * The secret is the first group, otherwise the whole match. Each pattern is linear in the text: a match starts only at the first character of a
 * run, or is bounded. None matches a placeholder in a way that changes it, so that masking twice gives the same text.
 */
const LOOKS: readonly RegExp[] = [
  /-----BEGIN [A-Z ]{1,40}-----[\s\S]*?(?:-----END [A-Z ]{1,40}-----|$)/g,
  // Prefixes of keys. Longer ones, and words, only before a long text without separators.
  /(?<![A-Za-z0-9])(?:(?:sk|pk|rk|whsec|gh[a-z]|[a-z]{2,12}_pat|glpat|xox[a-z]|xapp)[-_]|turnpike_st_)[A-Za-z0-9_-]{8,}/g,
  /(?<![A-Za-z0-9])(?:(?:ak|hf|gsk|xai|nvapi|pplx|npm)[-_][A-Za-z0-9]{20,}|AIza[\w-]{30,}|A[KS]IA[0-9A-Z]{16}(?![0-9A-Za-z]))/g,
  /(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]+)?/g,
  /\b(?:Bearer|Basic)\s+([A-Za-z0-9._~+/=-]{8,})/gi,
  // `?key=…`, also in a form body.
  /(?:key|token|secret|pass|password|pwd|signature|sig) ?= ?["']?([^&\s"'#\\]+)/gi,
  // `"api_key": "…"`, also in JSON inside a JSON string, and the list of a plural.
  /["'][\w.-]{0,40}(?:key|token|secret|password|passwd|authorization|cookie)\\{0,3}["']\s{0,8}:\s{0,8}\\{0,3}["']([^"'\\]+)/gi,
  /["'][\w.-]{0,40}(?:key|token|secret|password|passwd|cookie)s?\\{0,3}["']\s{0,8}:\s{0,8}\[\s{0,8}(\\{0,3}["'][^\][]+)/gi,
  // A header line.
  /\b(?:(?:proxy-)?authorization|(?:set-)?cookie|x-[a-z-]{0,30}key|api-key):[^\S\n]*([^\s][^\r\n]*)/gi,
  // User and password in a URL.
  /(?<![^\s"'`<>])(?:(?!\/\/)[^\s"'`<>])*\/\/([^\s"'`<>]+)@/g,
  // The URL of a webhook is its password: a UUID, or a random part of its path. The UUID of a tenant is an address.
  /(?<=\/)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?!\/(?:v\d|oauth2))/gi,
  /\bhttps?:\/\/(?:[^\s"'`<>/]*\/){1,12}?((?=[\w-]*\d)(?=[\w-]*[a-z])(?=[\w-]*[A-Z])[\w-]{20,})/g,
];

/**
 * Long random text. Only in files: in a log it is the id of a vendor's request, a hash or a path, all of which an operator needs, and the gateway's own
 * secrets are known there.
 */
const RANDOM: readonly RegExp[] = [
  /(?<![\w+/=.-])(?=[\w+/=-]*\d)(?=[\w+/=-]*[a-z])(?=[\w+/=-]*[A-Z])[\w+/=-]{24,}/g,
  /(?<![0-9A-Za-z])[0-9a-f]{32,}(?![0-9A-Za-z])/gi,
  /(?<=\/)(?=[\w-]*\d)(?=[\w-]*[a-z])(?=[\w-]*[A-Z])[\w-]{20,}/g,
];
const IN_FILES = [...LOOKS, ...RANDOM];

/** A part of a text, by its offsets. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Everything in a part of a file that looks like a secret. The spans may overlap. */
export function secretsByForm(part: string): readonly Span[] {
  if (part.length < SHORTEST_SECRET) return [];
  return IN_FILES.flatMap((look) =>
    [...part.matchAll(look)].map(({ 0: whole, 1: secret = whole, index }) => {
      const start = index + whole.lastIndexOf(secret);
      return { start, end: start + secret.length };
    }),
  );
}

/** The text with the placeholder for everything that looks like a secret. */
export function withoutSecrets(text: string, placeholder: string): string {
  let masked = text;
  for (const look of LOOKS)
    masked = masked.replace(look, (whole: string, group: unknown) => {
      const secret = typeof group === 'string' ? group : whole;
      const start = whole.lastIndexOf(secret);
      return `${whole.slice(0, start)}${placeholder}${whole.slice(start + secret.length)}`;
    });
  return masked;
}

/** True for what the log would mask, and for long random text in a field for secrets. */
export function looksLikeSecret(literal: string, secretField: boolean): boolean {
  if (literal.length >= SHORTEST_SECRET && withoutSecrets(literal, '') !== literal) return true;
  // Not a path to a file that contains one.
  if (!secretField || /^[./~]|\.(?:pem|key|txt)$/.test(literal)) return false;
  return /^[\w+/=.-]{20,}$/.test(literal) && /\d/.test(literal) && /[A-Za-z]/.test(literal);
}
