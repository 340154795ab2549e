/** What separates the parts of a form, as the header names it. */
import { errors } from '../errors.ts';

/** `boundary=…` in the header, in quotes or not. */
const PARAMETER = /;\s*boundary=(?:"([^"]*)"|([^\s;]*))/gi;
/** What RFC 2046 allows in a boundary. Some clients forget the quotes that half of it needs. */
const BOUNDARY = /^[\w'()+,\-./:=? ]{0,69}[\w'()+,\-./:=?]$/;

/** The boundary that the header names. Refuses with 400 where it names none, several, or one that is none. */
export function boundaryOf(contentType: string): string {
  const [found, ...more] = contentType.matchAll(PARAMETER);
  const boundary = found?.[1] ?? found?.[2] ?? '';
  if (more.length === 0 && BOUNDARY.test(boundary)) return boundary;
  throw errors
    .invalid_form(
      'The Content-Type of a form must name its boundary, of 1 to 70 characters: `multipart/form-data; boundary=…`.',
    )
    .with({ param: 'content-type' });
}
