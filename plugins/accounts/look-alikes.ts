/** Names that look like another: what a person who reads them would take for the same. */

/** Letters of other scripts, and digits, each above the Latin letter that it looks like. */
const LETTERS = 'авекмнорстухіјѕԁһӏпгαβεηικμνορτυχωıɑɡøł01i|';
const LATIN = 'abekmhopctyxljsdhlnrabenlkmvoptuxwlagololll';
const LOOKS_LIKE: ReadonlyMap<string, string> = new Map([...LETTERS].map((letter, i) => [letter, LATIN[i]!]));

/** Names that an account for everybody's questions would have. */
export const RESERVED: readonly string[] = ['root', 'admin', 'administrator', 'turnpike'];

/** What a name looks like: the same for two that are easily taken for each other. */
export function looksOf(name: string): string {
  const plain = name
    .normalize('NFKC')
    .toLowerCase()
    .normalize('NFD')
    .replace(/[\p{M}\p{Cf}\s._-]/gu, '');
  return [...plain]
    .map((letter) => LOOKS_LIKE.get(letter) ?? letter)
    .join('')
    .replaceAll('rn', 'm')
    .replaceAll('vv', 'w');
}
