/** Makes a usage record believable: what a vendor says is not trusted to be a whole number, or to add up. */
import type { Usage } from '../../core/contracts/call.ts';

/**
 * More tokens than any call can have; a higher count is cut to this. It keeps every charge inside 64 bits: 10^8 tokens at
 * 10,000 currency units per million, in and out, are 10^18 micro-quota at 500,000 quota per currency unit.
 */
export const MOST_TOKENS = 100_000_000;

/** A count as whole tokens between 0 and `MOST_TOKENS`: fractions round up, what is not a number counts as none. */
export function wholeTokens(count: number): number {
  if (typeof count !== 'number' || !(count > 0)) return 0;
  return Math.min(Math.ceil(count), MOST_TOKENS);
}

/**
 * The nearest record that can be true, and for the log what was wrong: counts are whole and inside 0 … `MOST_TOKENS`, and no
 * part is larger than its whole. A part is cut to its whole, never the whole raised: nobody pays for a contradiction. Audio
 * may overlap with cached input, since a vendor may serve audio from its cache.
 */
export function saneUsage(usage: Usage): { readonly usage: Usage; readonly anomalies: string[] } {
  const anomalies: string[] = [];
  if (addsUp(usage)) return { usage, anomalies };
  const whole = (name: CountName): number => {
    const tokens = wholeTokens(usage[name]);
    if (tokens !== usage[name]) anomalies.push(`${name} is ${usage[name]}`);
    return tokens;
  };
  const part = (name: CountName, most: number, of: string): number => {
    const tokens = whole(name);
    if (tokens > most) anomalies.push(`${name} is ${tokens}, more than the ${most} left of ${of}`);
    return Math.min(tokens, most);
  };

  const input = whole('input');
  const cacheRead = part('cacheRead', input, 'input');
  const cacheWrite = part('cacheWrite', input - cacheRead, 'input');
  const cacheWriteLong = part('cacheWriteLong', input - cacheRead - cacheWrite, 'input');
  const inputAudio = part('inputAudio', input, 'input');
  const output = whole('output');
  const reasoning = part('reasoning', output, 'output');
  const outputAudio = part('outputAudio', output - reasoning, 'output');
  return {
    usage: {
      input,
      cacheRead,
      cacheWrite,
      cacheWriteLong,
      inputAudio,
      output,
      reasoning,
      outputAudio,
      estimated: usage.estimated === true,
    },
    anomalies,
  };
}

/** Nearly every record does; the work of telling what is wrong is for the others. */
function addsUp(usage: Usage): boolean {
  const { input, cacheRead, cacheWrite, cacheWriteLong, inputAudio, output, reasoning, outputAudio } = usage;
  return (
    isCount(input) &&
    isCount(cacheRead) &&
    isCount(cacheWrite) &&
    isCount(cacheWriteLong) &&
    cacheRead + cacheWrite + cacheWriteLong <= input &&
    isCount(inputAudio) &&
    inputAudio <= input &&
    isCount(output) &&
    isCount(reasoning) &&
    isCount(outputAudio) &&
    reasoning + outputAudio <= output &&
    typeof usage.estimated === 'boolean'
  );
}

function isCount(count: number): boolean {
  return Number.isInteger(count) && count >= 0 && count <= MOST_TOKENS;
}

type CountName = Exclude<keyof Usage, 'estimated'>;
