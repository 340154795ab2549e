/** Names as this gateway accepts them: of channels, of accounts and keys, and groups with other names. */
import type { ForeignGroup } from './inventory.ts';

/** Longest name of an account, department or key, in characters. */
const LONGEST = 64;
/** Longest part of a channel's name that is kept, so that a number fits behind it. */
const LONGEST_CHANNEL = 56;

/** A channel's name made of letters, digits, dots, dashes and underscores, different from those in `taken`, and added to them. */
export function uniqueName(title: string, taken: Set<string>): string {
  const plain = title
    .normalize('NFKD')
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[^A-Za-z0-9]+|-+$/g, '')
    .slice(0, LONGEST_CHANNEL);
  const base = plain === '' ? 'channel' : plain;
  let name = base;
  for (let number = 2; taken.has(name); number++) name = `${base}-${number}`;
  taken.add(name);
  return name;
}

/** A name of an account, a department or a key: without invisible characters, cut to 64; `otherwise` if nothing is left. */
export function readableName(name: string | undefined, otherwise: string): string {
  const visible = (name ?? '').normalize('NFC').replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, '');
  const cut = [...visible.trim()].slice(0, LONGEST).join('').trim();
  return cut === '' ? otherwise : cut;
}

/** A group with the names that it and others have here. */
export function groupRenamed(group: ForeignGroup, nameOf: (name: string) => string): ForeignGroup {
  return {
    ...group,
    name: nameOf(group.name),
    ...(group.of && { of: group.of.map(nameOf) }),
    ...(group.for && { for: group.for.map(nameOf) }),
    ...(group.factors && { factors: new Map([...group.factors].map(([name, factor]) => [nameOf(name), factor])) }),
  };
}

/** A name with an addition, cut so that both fit. */
export function withSuffix(name: string, suffix: string): string {
  return [...name].slice(0, LONGEST - suffix.length).join('') + suffix;
}

/** A text with the characters made visible that a terminal obeys, or that hide others: names of the other gateway may have any. */
export function visible(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`);
}
