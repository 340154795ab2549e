/** The errors of imports in the console. */
import { defineErrors } from '../../core/sdk.ts';

/** By their codes. */
export const errors = defineErrors(
  {
    import_running: { status: 409, help: 'Another import is running. Wait for its end.' },
    import_source_refused: {
      status: 400,
      param: 'url',
      text: (why: string) => `The source cannot be imported: ${why}.`,
      help: 'The source is neither a database URL nor an uploaded file. Files of the gateway’s machine are imported with `turnpike import`.',
    },
    upload_out_of_order: {
      status: 409,
      param: 'offset',
      help: 'The part does not continue the uploaded file, or the file is on another gateway. Upload it again.',
    },
    upload_too_large: {
      status: 413,
      text: (most: string) =>
        `The file is larger than ${most}: copy it to the gateway’s machine and use \`turnpike import\`.`,
      help: 'The uploaded file is too large. Copy it to the gateway’s machine and use `turnpike import`.',
    },
  },
  'api',
);
