/** The boundary of a multipart body, from its `content-type`. */
import { errors } from '../errors.ts';

/** `boundary=…` in the header, quoted or not. */
const PARAMETER = /;\s*boundary=(?:"([^"]*)"|([^\s;]*))/gi;
/** The characters that RFC 2046 allows in a boundary. Some clients omit the quotes that some of them require. */
const BOUNDARY = /^[\w'()+,\-./:=? ]{0,69}[\w'()+,\-./:=?]$/;

/** The boundary in the header. Refuses with 400 if there is none, more than one, or an invalid one. */
export function boundaryOf(contentType: string): string {
  const [match, ...more] = contentType.matchAll(PARAMETER);
  const boundary = match?.[1] ?? match?.[2] ?? '';
  if (more.length === 0 && BOUNDARY.test(boundary)) return boundary;
  throw errors
    .invalid_form(
      'The Content-Type of a form must name its boundary, of 1 to 70 characters: `multipart/form-data; boundary=…`.',
    )
    .with({ param: 'content-type' });
}
