/** The speech of the demo model: a tune derived from the text, a note per few letters, about as long as the spoken text. */

/** A note, or a rest. */
export interface Note {
  /** 0: a rest. */
  readonly hertz: number;
  readonly seconds: number;
}

/** Creates the tune of a text. */
export interface Tune {
  readonly seconds: number;
  readonly notes: readonly Note[];
}

/** The maximum duration, in seconds. */
const LONGEST = 20;
const LETTERS_PER_NOTE = 3;
const NOTE = 0.16;
const BREATH = 0.04;
const SPACE = 0.07;
/** Five notes of an octave (a pentatonic scale), in semitones. */
const SCALE = [0, 2, 4, 7, 9];
const LOWEST = 220;
const HALF_TONES = 12;

/** The notes of the words; the voice sets the pitch. */
export function tuneOf(text: string, voice: string, speed: number): Tune {
  const notes: Note[] = [];
  let seconds = 0;
  const add = (hertz: number, length: number): void => {
    notes.push({ hertz, seconds: length / speed });
    seconds += length / speed;
  };
  const base = LOWEST * 2 ** ((sumOf(voice) % HALF_TONES) / HALF_TONES);
  for (const [letters] of text.matchAll(new RegExp(`\\s+|\\S{1,${LETTERS_PER_NOTE}}`, 'gu'))) {
    if (seconds >= LONGEST) break;
    if (letters.trim() === '') {
      add(0, SPACE);
    } else {
      add(base * 2 ** (SCALE[sumOf(letters) % SCALE.length]! / HALF_TONES), NOTE);
      add(0, BREATH);
    }
  }
  return { seconds, notes };
}

/** The tone at a time. Loudness is from 0 to 1, with a fade at both ends of a note. */
export function soundAt({ notes }: Tune): (seconds: number) => { readonly hertz: number; readonly loudness: number } {
  let index = 0;
  let start = 0;
  /** Must be called in the order of time. */
  return (seconds) => {
    while (index < notes.length && seconds >= start + notes[index]!.seconds) start += notes[index++]!.seconds;
    const { hertz, seconds: length } = notes[index] ?? { hertz: 0, seconds: 1 };
    return { hertz, loudness: hertz === 0 ? 0 : Math.sin((Math.PI * (seconds - start)) / length) };
  };
}

function sumOf(text: string): number {
  let sum = 0;
  for (const letter of text) sum += letter.codePointAt(0)!;
  return sum;
}
