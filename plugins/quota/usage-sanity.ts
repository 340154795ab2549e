/** Makes a usage record believable: what a vendor says is not trusted to be a whole number, or to add up. */
import type { Images, Usage } from '../../core/contracts/call.ts';
import type { Uses } from '../../core/contracts/uses.ts';

/**
 * More tokens, or characters, than any call can have; a higher count is cut to this. It keeps every charge for tokens inside 64
 * bits: 10^8 tokens at 10,000 currency units per million, in and out, are 10^18 micro-quota at 500,000 quota per currency unit.
 */
export const MOST_TOKENS = 100_000_000;
/** More images than any call makes. */
const MOST_IMAGES = 10_000;
/** More than a vendor runs for one call. */
const MOST_USES = 10_000;
/** More sound than any call hears: eleven days of it. */
const MOST_SECONDS = 1_000_000;
/** Longer than any name of a size or a quality. */
const LONGEST_KIND = 64;

/** A count as whole tokens between 0 and `MOST_TOKENS`: fractions round up, what is not a number counts as none. */
export function wholeTokens(count: number | undefined): number {
  return wholeUpTo(MOST_TOKENS, count);
}

/** Seconds between 0 and more than there can be, fractions and all; what is not a number counts as none. */
export function saneSeconds(seconds: number | undefined): number {
  if (typeof seconds !== 'number' || !(seconds > 0)) return 0;
  return Math.min(seconds, MOST_SECONDS);
}

/** Whole images, between 0 and more than there can be, of a kind whose names are short; undefined where there are none. */
export function saneImages(images: Images | undefined): Images | undefined {
  if (typeof images !== 'object' || images === null) return undefined;
  const count = wholeUpTo(MOST_IMAGES, images.count);
  return { count, size: shortName(images.size), quality: shortName(images.quality) };
}

/** Whether some call can have used so much. */
export function isPossible({ input, output, characters = 0, seconds = 0, images }: Usage): boolean {
  const isCredible = (count: number | undefined, most: number): boolean => !(Number(count) > most);
  return (
    [input, output, characters].every((count) => isCredible(count, MOST_TOKENS)) &&
    isCredible(seconds, MOST_SECONDS) &&
    isCredible(images?.count, MOST_IMAGES)
  );
}

function wholeUpTo(most: number, count: number | undefined): number {
  if (typeof count !== 'number' || !(count > 0)) return 0;
  return Math.min(Math.ceil(count), most);
}

function shortName(name: string): string {
  return typeof name === 'string' ? name.slice(0, LONGEST_KIND) : '';
}

/**
 * The nearest record that can be true, and for the log what was wrong: counts are whole and inside 0 … `MOST_TOKENS`, and no
 * part is larger than its whole. A part is cut to its whole, never the whole raised: nobody pays for a contradiction. Audio and
 * images may overlap with cached input, since a vendor may serve them from its cache.
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
      ...(usage.inputImage !== undefined && { inputImage: part('inputImage', input - inputAudio, 'input') }),
      ...(usage.outputImage !== undefined && {
        outputImage: part('outputImage', output - reasoning - outputAudio, 'output'),
      }),
      ...(usage.characters !== undefined && { characters: whole('characters') }),
      ...saneUnits(usage, anomalies),
      estimated: usage.estimated === true,
    },
    anomalies,
  };
}

/** What has a form of its own beside the counts. */
function saneUnits(usage: Usage, anomalies: string[]): Pick<Usage, 'seconds' | 'images' | 'uses' | 'service'> {
  const seconds = usage.seconds === undefined ? undefined : saneSeconds(usage.seconds);
  const images = saneImages(usage.images);
  if (seconds !== usage.seconds) anomalies.push(`seconds is ${usage.seconds}`);
  if (!areImages(usage.images)) anomalies.push(`images is ${JSON.stringify(images)}, made of something else`);
  const uses = usage.uses && saneUses(usage.uses);
  if (!areUses(usage.uses)) anomalies.push(`uses is ${JSON.stringify(usage.uses)}`);
  return {
    ...(seconds !== undefined && { seconds }),
    ...(images !== undefined && { images }),
    ...(uses !== undefined && { uses }),
    ...(usage.service !== undefined && { service: usage.service }),
  };
}

/** Uses of a call, between 0 and more than there can be. */
function saneUses(uses: Uses): Uses {
  return Object.fromEntries(Object.entries(uses).map(([name, count]) => [name, wholeUpTo(MOST_USES, count)]));
}

function areUses(uses: Uses | undefined): boolean {
  return uses === undefined || Object.values(uses).every((count) => count === wholeUpTo(MOST_USES, count));
}

/** Nearly every record does; the work of telling what is wrong is for the others. */
function addsUp(usage: Usage): boolean {
  const { input, cacheRead, cacheWrite, cacheWriteLong, inputAudio, output, reasoning, outputAudio } = usage;
  const { inputImage = 0, outputImage = 0, characters = 0, seconds = 0 } = usage;
  return (
    isCount(input) &&
    isCount(cacheRead) &&
    isCount(cacheWrite) &&
    isCount(cacheWriteLong) &&
    cacheRead + cacheWrite + cacheWriteLong <= input &&
    isCount(inputAudio) &&
    isCount(inputImage) &&
    inputAudio + inputImage <= input &&
    isCount(output) &&
    isCount(reasoning) &&
    isCount(outputAudio) &&
    isCount(outputImage) &&
    reasoning + outputAudio + outputImage <= output &&
    isCount(characters) &&
    seconds === saneSeconds(seconds) &&
    areImages(usage.images) &&
    areUses(usage.uses) &&
    typeof usage.estimated === 'boolean'
  );
}

function isCount(count: number): boolean {
  return Number.isInteger(count) && count >= 0 && count <= MOST_TOKENS;
}

function areImages(images: Images | undefined): boolean {
  if (images === undefined) return true;
  const sane = saneImages(images);
  return sane !== undefined && (['count', 'size', 'quality'] as const).every((fact) => sane[fact] === images[fact]);
}

type CountName = Exclude<keyof Usage, 'estimated' | 'uses' | 'service' | 'seconds' | 'images'>;
