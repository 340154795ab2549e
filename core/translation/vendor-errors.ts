/** What a vendor says went wrong inside an answer, in the one form that all styles bring it into. */
import type { Json } from '../contracts/call.ts';
import { member } from './values.ts';

/** An error of a vendor's, in words and as a code; the code may be empty. */
export interface VendorError {
  readonly message: string;
  readonly code: string;
}

/** Of a message and a code as they stand there, be they what they like. */
export function vendorError(message: Json | undefined, code: Json | undefined): VendorError {
  return {
    message:
      typeof message === 'string' && message !== '' ? message : 'The vendor reported an error without a message.',
    code: typeof code === 'string' || typeof code === 'number' ? String(code) : '',
  };
}

/** Of an error that is an object, or only a sentence. */
export function readVendorError(error: Json | undefined): VendorError {
  if (typeof error === 'string') return vendorError(error, undefined);
  return vendorError(member(error, 'message'), member(error, 'code') ?? member(error, 'type'));
}
