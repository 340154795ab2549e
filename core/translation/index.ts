/** `turnpike/translation`: helpers for styles and vendors to decode and encode requests, answers and streams. */

export { dataUrl, type Media, readDataUrl } from '../bytes/data-url.ts';
export {
  CUT_SHORT,
  eventData,
  eventName,
  isClosed,
  isCutShort,
  isEndMark,
  patchedEvent,
} from '../bytes/event-splitter.ts';
export { exactJson, exactMember, exactText, exactTree, isFaithful, jsonText } from '../bytes/exact.ts';
export { type Fields, isObject, readFields } from '../bytes/fields.ts';
export { factsOf, knownJson, type ScanFacts, scanAnswer, scanJson } from '../bytes/json-body.ts';
export { behindSpace, closingQuote, jsonTextLength } from '../bytes/json-text.ts';
export {
  argumentsOf,
  given,
  isCount,
  isNoArguments,
  member,
  objectsIn,
  parsed,
  parsedExactly,
  textIn,
  textOf,
  tokensIn,
} from '../bytes/values.ts';
export type * from '../contracts/formats/conversation.ts';
export type * from '../contracts/formats/quirks.ts';
export * from '../contracts/formats/uses.ts';
export { retell } from './adapt/adapt.ts';
export { describedSchema } from './adapt/object-schema.ts';
export { effortAt } from './adapt/reasoning.ts';
export { flatName } from './adapt/tool-names.ts';
export { choosesHosted } from './adapt/tools.ts';
export { AnswerCollector } from './conversation/collector.ts';
export { countedUsage, NO_TOKENS, withCountedOutput } from './conversation/count-usage.ts';
export { foldParts, partsOf } from './conversation/fold.ts';
export { CARRIER, isMadeBy, packOpaque, SEALED, UNSEALED, unpackOpaque } from './conversation/opaque-values.ts';
export { createTextRevision, Shifts, type TextFlow, type TextReviser } from './conversation/text-revision.ts';
export { callId, hasOddCallIds } from './quirks/call-ids.ts';
export { answerLimits } from './quirks/limits.ts';
export { isOneOf, layQuirks, quirksOfModel, quirksSchema } from './quirks/quirks.ts';
export { SEARCHING } from './quirks/ruled-fields.ts';
export { isNeutral } from './quirks/sampling.ts';
export { canBeClosed } from './schema-forms.ts';
export { usualDialects } from './usual-dialects.ts';
export { overflowTokens, readVendorError, type VendorError, vendorError } from './vendor-errors.ts';
export {
  dropSearchExtras,
  dropSummaryLength,
  isBlank,
  leaveExtras,
  omitRest,
  omitUnsaid,
} from './warnings/dropped-extras.ts';
