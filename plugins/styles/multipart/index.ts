/** Reads multipart bodies: which fields of an endpoint are files, and the JSON body that the others become. */
import type { FormReader, Json } from '../../../core/plugin.ts';
import { errors } from '../errors.ts';
import { LONGEST_TEXT, takeParts, wrong } from './parts.ts';

/** `boundary=…` in the header, quoted or not. */
const PARAMETER = /;\s*boundary=(?:"([^"]*)"|([^\s;]*))/gi;
/** The characters that RFC 2046 allows in a boundary. Some clients omit required quotes. */
const BOUNDARY = /^[\w'()+,\-./:=? ]{0,69}[\w'()+,\-./:=?]$/;

/** The boundary in the header. Refuses with 400 if there is none, more than one, or an invalid one. */
function boundaryOf(contentType: string): string {
  const [match, ...more] = contentType.matchAll(PARAMETER);
  const boundary = match?.[1] ?? match?.[2] ?? '';
  if (more.length === 0 && BOUNDARY.test(boundary)) return boundary;
  throw errors
    .invalid_form(
      'The Content-Type of a multipart body must have its boundary, of 1 to 70 characters: `multipart/form-data; boundary=…`.',
    )
    .with({ param: 'content-type' });
}

/** The fields of an endpoint. */
export interface FormOptions {
  /** True if JSON bodies are refused. */
  readonly only: boolean;
  /** The fields with files, by name; `image[]` counts as `image`. */
  readonly files: Readonly<Record<string, FileField>>;
  /** Text fields that may be repeated and become a list; those with names that end in `[]` always do. */
  readonly repeats?: readonly string[];
}

/** A field with files. */
export interface FileField {
  /** The maximum number. */
  readonly max: number;
  /** At least one is required. */
  readonly required?: boolean;
  /** A text (a URL) may be sent instead; the style reads both. */
  readonly orText?: boolean;
}

/** Long text fields; all others are settings. */
const LONG = ['prompt', 'input', 'instructions'];
const LONGEST_SETTING = 65_536;
const LONGEST_FILE_NAME = 255;
const LONGEST_MEDIA_TYPE = 127;

/** Creates a reader of an endpoint's multipart bodies. */
export function createFormReader({ only, files: fields, repeats = [] }: FormOptions): FormReader {
  const fieldOf = (name: string): FileField | undefined =>
    Object.hasOwn(fields, bare(name)) ? fields[bare(name)] : undefined;
  const takesFiles = describeFields(Object.keys(fields));

  return {
    only,
    async read({ body, contentType, spool }) {
      const texts = new Map<string, Json>();
      const came = new Map<string, number>();
      const files = await takeParts(body, boundaryOf(contentType), {
        longest: (name) => (LONG.includes(bare(name)) ? LONGEST_TEXT : LONGEST_SETTING),
        text(name, text) {
          const field = fieldOf(name);
          if (field !== undefined && field.orText !== true) wrong(name, 'must be a file, sent with a file name');
          texts.set(name, withText(name, texts.get(name), text, repeats));
        },
        file(name, fileName, mediaType) {
          const field = fieldOf(name) ?? wrong(name, `must not be a file: ${takesFiles}`);
          const count = (came.get(bare(name)) ?? 0) + 1;
          came.set(bare(name), count);
          if (count > field.max) wrong(name, `must be ${field.max === 1 ? 'one file' : `${field.max} files at most`}`);
          return spool.file({
            field: name,
            fileName: plainFileName(fileName) || bare(name),
            mediaType: plainMediaType(mediaType),
          });
        },
      });
      requireFiles(fields, came, texts);
      return { fields: Object.fromEntries(texts), files };
    },
  };
}

/** Clients that send a list end its name in brackets. */
function bare(name: string): string {
  return name.endsWith('[]') ? name.slice(0, -2) : name;
}

function describeFields(names: readonly string[]): string {
  if (names.length === 0) return 'this endpoint accepts no files';
  return `files are accepted only in ${names.map((name) => `\`${name}\``).join(' and ')}`;
}

/** The value of a field with one more text. */
function withText(name: string, earlier: Json | undefined, text: string, repeats: readonly string[]): Json {
  if (earlier === undefined) return name.endsWith('[]') ? [text] : text;
  if (Array.isArray(earlier)) return [...earlier, text];
  return repeats.includes(name) ? [earlier, text] : wrong(name, 'must be sent only once');
}

function requireFiles(
  fields: FormOptions['files'],
  came: ReadonlyMap<string, number>,
  texts: ReadonlyMap<string, Json>,
): void {
  for (const [name, { required, orText }] of Object.entries(fields)) {
    const isThere = came.has(name) || (orText === true && (texts.has(name) || texts.has(`${name}[]`)));
    if (required === true && !isThere) wrong(name, 'is missing; it must be a file');
  }
}

/** Without folders and invisible characters. A long name is cut at its start, because vendors go by the extension. */
function plainFileName(name: string): string {
  const last = name
    .replace(/\p{Cc}/gu, '')
    .split(/[/\\]/)
    .at(-1)!;
  return /^\.{0,2}$/.test(last) ? '' : [...last].slice(-LONGEST_FILE_NAME).join('');
}

/** The parser reports a file without a type as text/plain, which is not accepted anywhere. */
function plainMediaType(type: string): string {
  return type === 'text/plain' || type.length > LONGEST_MEDIA_TYPE ? 'application/octet-stream' : type;
}
