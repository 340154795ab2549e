/** Detects names that look like another name. */

/** Letters of other scripts, and digits, each above the Latin letter it resembles. */
const LETTERS = 'авекмнорстухіјѕԁһӏпгαβεηικμνορτυχωıɑɡøł01i|';
const LATIN = 'abekmhopctyxljsdhlnrabenlkmvoptuxwlagololll';
const LOOKS_LIKE: ReadonlyMap<string, string> = new Map([...LETTERS].map((letter, i) => [letter, LATIN[i]!]));

/** Names that suggest an official account. */
export const RESERVED: readonly string[] = ['root', 'admin', 'administrator', 'turnpike'];

/** The visual skeleton of a name: equal for names that are easily confused. */
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
