/** `turnpike/sdk`: helpers that plugins share. None is required to write a plugin, and none depends on the gateway. */
export { canonicalRange, createAddressList } from './address.ts';
export { BASE62, randomBase62 } from './base62.ts';
export { boundedMap } from './bounded.ts';
export { type Chore, createChore } from './chore.ts';
export { readDuration, readExpiry, readUnits } from './cli/options.ts';
export {
  all,
  type Condition,
  condition,
  contains,
  either,
  mentions,
  orderOf,
  readPage,
  type Sorting,
} from './conditions.ts';
export { nearest } from './config/nearest.ts';
export { checkValue } from './config/validator.ts';
export { byteSize, duration, durationMs, settings, size } from './config/values.ts';
export { type Decimal, decimal, decimalText, highest, inUnitsOf, roundedUp } from './decimal.ts';
export { defineErrors } from './errors.ts';
export { isPublicAddress } from './guarded-fetch.ts';
export { createRecent } from './helpers/recent.ts';
export type { Matches } from './inspection/matches.ts';
export {
  createSearch,
  MOST_MATCHES,
  replaceMatches,
  type Search,
  tooManyMatches,
} from './inspection/search.ts';
export { serveSearch } from './inspection/serve-search.ts';
export { createTurns, type TurnLimits, type Turns } from './inspection/turns.ts';
export { checkKinds } from './kinds.ts';
export { readName } from './names.ts';
export { proxySchema, proxySecrets } from './outgoing-proxy.ts';
export { LATEST_MS, PERIODS, type Period, periodAround } from './periods.ts';
export { listenPrivately } from './private-socket.ts';
export { type Queue, queueOf } from './runtime/stage.ts';
export {
  isInScope,
  isListed,
  isListedWithId,
  type Scope,
  scopeProperties,
  scopeServices,
  starIn,
  warnOfScope,
} from './scope.ts';
export {
  addAmounts,
  checkedValue,
  largestPartsSql,
  partsOfSum,
  readSum,
  sumOfPartsSql,
  sumPartsSql,
  sumSql,
} from './store-values.ts';
export { table } from './table.ts';
export { startAhead, startThread, type Thread, type ThreadEvents } from './thread.ts';
export { isPossible, MOST_TOKENS, saneImages, saneSeconds, saneUsage, wholeTokens } from './upstream/sane-usage.ts';
