/** Conditional requests: a client that has the current content gets 304 instead of it. */
import { createHash } from 'node:crypto';
import { type Answer, type AnswerHeaders, answer, type Caller } from '../../../core/plugin.ts';

/** The entity tag of a content; `variant` distinguishes its encodings. */
export function tagOf(content: string | Buffer, variant = ''): string {
  return `"${createHash('sha256').update(content).digest('base64url').slice(0, 22)}${variant}"`;
}

/** Answers with a content, or with 304 if `If-None-Match` has its tag. */
export function answerIfChanged(
  { headers }: Pick<Caller, 'headers'>,
  content: string | Buffer,
  tag: string,
  about: AnswerHeaders,
): Answer {
  const known = (headers['if-none-match'] ?? '').split(',').map((each) => each.trim().replace(/^W\//, ''));
  if (!known.includes(tag) && !known.includes('*')) return answer(200, content, { ...about, etag: tag });
  const { 'content-type': _, 'content-encoding': __, ...others } = about;
  return answer(304, undefined, { ...others, etag: tag });
}
