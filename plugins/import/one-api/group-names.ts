/** Names of groups as this gateway accepts them: letters and digits of any language, `_`, `.` and `-`. */

const LONGEST = 64;
/** Names that gateway.yaml refuses. */
const RESERVED: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

/** Gives every name of a group there the one that it has here: itself, if it can. */
export function groupNames(): { of(name: string): string; readonly renamed: ReadonlyMap<string, string> } {
  const names = new Map<string, string>();
  const renamed = new Map<string, string>();
  return {
    renamed,
    of(name) {
      const known = names.get(name);
      if (known !== undefined) return known;
      const plain = name
        .normalize('NFC')
        .replace(/[^\p{L}\p{M}\p{N}_.-]+/gu, '-')
        .slice(0, LONGEST);
      const base = plain === '' ? 'group' : RESERVED.has(plain) ? `group-${plain}` : plain;
      const taken = new Set(names.values());
      let own = base;
      for (let number = 2; taken.has(own); number++) own = `${base.slice(0, LONGEST - 4)}-${number}`;
      names.set(name, own);
      if (own !== name) renamed.set(name, own);
      return own;
    },
  };
}
