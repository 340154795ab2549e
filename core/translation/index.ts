/** `turnpike/translation`: helpers for styles and vendors to decode and encode requests, answers and streams. */
export type * from '../contracts/conversation.ts';
export type * from '../contracts/quirks.ts';
export * from '../contracts/uses.ts';
export { CUT_SHORT, eventData, eventName, isClosed, isCutShort, isEndMark, patchedEvent } from '../events.ts';
export { factsOf, knownJson, type ScanFacts, scanAnswer, scanJson } from '../json.ts';
export { behindSpace, closingQuote, jsonTextLength } from '../json-text.ts';
export { countedUsage, NO_TOKENS, withCountedOutput } from '../usage.ts';
export { retell } from './adapt.ts';
export { callId, hasOddCallIds } from './call-ids.ts';
export { CARRIER, isMadeBy, packOpaque, SEALED, UNSEALED, unpackOpaque } from './carrier.ts';
export { AnswerCollector } from './collector.ts';
export { dataUrl, type Media, readDataUrl } from './data-url.ts';
export { exactJson, exactMember, exactText, exactTree, isFaithful, jsonText } from './exact.ts';
export { type Fields, isObject, readFields } from './fields.ts';
export { foldParts, partsOf } from './fold.ts';
export { dropSearchExtras, dropSummaryLength, isBlank, leaveExtras, omitRest, omitUnsaid } from './leftovers.ts';
export { answerLimits } from './limits.ts';
export { describedSchema } from './object-schema.ts';
export { isOneOf, layQuirks, quirksOfModel, quirksSchema } from './quirks.ts';
export { effortAt } from './reasoning.ts';
export { SEARCHING } from './ruled-fields.ts';
export { isNeutral } from './sampling.ts';
export { canBeClosed } from './schema-forms.ts';
export { createTextRevision, Shifts, type TextFlow, type TextReviser } from './text-revision.ts';
export { flatName } from './tool-names.ts';
export { choosesHosted } from './tools.ts';
export { usualDialects } from './usual-dialects.ts';
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
} from './values.ts';
export { overflowTokens, readVendorError, type VendorError, vendorError } from './vendor-errors.ts';
