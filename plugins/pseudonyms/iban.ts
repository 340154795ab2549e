/** IBANs in a text: where one ends, if a number follows it. */
import type { Finder } from '../../core/contracts/matching.ts';

const LEAST = 15;

/** Takes of each match of `rows` as much as has valid check digits; all of it if none has. */
export function ibansIn(rows: Finder): Finder {
  return {
    find(text, from) {
      const row = rows.find(text, from);
      if (row === undefined) return undefined;
      const groups = [...text.slice(row.start, row.end).matchAll(/[A-Z0-9]+/g)].map(
        ({ 0: { length }, index }) => index + length,
      );
      const end = groups.findLast((each) => isIban(text.slice(row.start, row.start + each)));
      return { start: row.start, end: end === undefined ? row.end : row.start + end };
    },
  };
}

/** The remainder of its digits, the first four characters last and letters as numbers from 10, is 1 in divisions by 97. */
function isIban(text: string): boolean {
  const plain = text.replaceAll(/[^A-Z0-9]/g, '');
  if (plain.length < LEAST) return false;
  let remainder = 0;
  for (const character of plain.slice(4) + plain.slice(0, 4)) {
    const value = Number.parseInt(character, 36);
    remainder = (remainder * (value > 9 ? 100 : 10) + value) % 97;
  }
  return remainder === 1;
}
