/** The configuration in responses of `/api/config`: remarks, comparisons, versions, and who saved them. */
import { integer, list, listOf, record, text, unixSeconds } from '../format/schemas.ts';

/** The maximum size of gateway.yaml, in characters and in bytes. */
export const LONGEST = 256 * 1_024;

/** The text in the body of a request. */
export const textProperty = { ...text, maxLength: LONGEST, description: 'At most 256 KiB.' } as const;

const remarks = listOf('ConfigRemark', {
  line: { ...integer, description: 'From 1.' },
  column: { ...integer, description: 'From 1.' },
  path: { ...text, description: '`channels[0].vendor`; empty for the whole file.' },
  message: text,
});

/** The members of a check. */
export const verdictProperties = {
  problems: { ...remarks, description: 'Errors; if there are none, the file can be loaded.' },
  warnings: { ...remarks, description: 'Warnings: it can be loaded, but is not advisable.' },
  report: {
    type: 'array',
    items: text,
    description: 'The output of `turnpike check` by line; empty if there are errors.',
  },
} as const;

const lineNumber = (description: string) => ({ type: ['integer', 'null'], description });

/** A comparison of two texts. */
export const diffProperty = {
  ...listOf('ConfigDiffHunk', {
    lines: list({
      kind: { enum: ['same', 'added', 'removed'] },
      text: { ...text, description: 'Without its line break. Secrets are masked.' },
      old: lineNumber('Its line number in the old text; null if it was added.'),
      new: lineNumber('Its line number in the new text; null if it was removed.'),
    }),
  }),
  description: 'Adjacent changes with up to three unchanged lines around them; empty if the texts are equal.',
} as const;

/** A check with the comparison to the current text. */
export const checkSchema = record('ConfigCheck', { ...verdictProperties, diff: diffProperty });

const versionProperties = {
  id: integer,
  at: unixSeconds,
  by: {
    type: ['string', 'null'],
    description: 'The name of the user; null: the file was changed by hand or by another program.',
  },
  note: { ...text, description: 'Empty if there is none.' },
  revision: text,
} as const;

/** A version in a list. */
export const versionSchema = record('ConfigVersion', versionProperties);
/** A version with its text. */
export const fullVersionSchema = record('ConfigVersionText', {
  ...versionProperties,
  text: { ...text, description: 'Secrets are masked.' },
  diff: { ...diffProperty, description: 'From this version to the current text.' },
});
