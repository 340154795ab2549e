/** Dropped, pasted or selected files as images of a prompt. */
import type { Picture, Prompt } from './prompt.ts';

/** Image types that models accept. */
export const PICTURE_TYPES = ['image/png', 'image/jpeg', 'image/webp', 'image/gif'] as const;
/** JSON bodies are limited to 16 MiB; this leaves room for text. */
export const MOST_PICTURES = 15 * 1_024 * 1_024;

/** The result for a file. */
export type ReadPicture =
  | { readonly picture: Picture }
  | { readonly name: string; readonly problem: 'type' | 'size' | 'unreadable' };

/** Reads the files. `room`: the remaining size in base64 characters. */
export async function readPictures(files: readonly File[], room: number): Promise<readonly ReadPicture[]> {
  let left = room;
  const read: ReadPicture[] = [];
  for (const file of files) {
    const { name, type, size } = file;
    if (!PICTURE_TYPES.some((accepted) => accepted === type)) read.push({ name, problem: 'type' });
    // Base64 uses four characters for three bytes.
    else if (size * 1.34 > left) read.push({ name, problem: 'size' });
    else {
      const url = await dataUrlOf(file).catch(() => undefined);
      if (url === undefined) read.push({ name, problem: 'unreadable' });
      else {
        left -= url.length;
        read.push({ picture: { name, url } });
      }
    }
  }
  return read;
}

/** The remaining size for images. */
export function roomIn({ turns }: Prompt): number {
  return MOST_PICTURES - turns.flatMap(({ pictures }) => pictures).reduce((sum, { url }) => sum + url.length, 0);
}

function dataUrlOf(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
}
