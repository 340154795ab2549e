/** `turnpike/sdk`: helpers that plugins share. None is required to write a plugin, and none depends on the gateway. */

export { checkKinds } from './bytes/json-kinds.ts';
export { readDuration, readExpiry, readUnits } from './cli/options.ts';
export { checkValue } from './config/validator.ts';
export { byteSize, duration, durationMs, settings, size } from './config/values.ts';
export { defineErrors } from './contracts/gateway-error.ts';
export { LATEST_MS, PERIODS, type Period, periodAround } from './contracts/periods.ts';
export { canonicalRange, createAddressList } from './helpers/address-list.ts';
export { BASE62, randomBase62 } from './helpers/base62.ts';
export { boundedMap } from './helpers/bounded-map.ts';
export { type Decimal, decimal, decimalText, highest, inUnitsOf, roundedUp } from './helpers/decimal.ts';
export { nearest } from './helpers/nearest.ts';
export { listenPrivately } from './helpers/private-socket.ts';
export { createRecent } from './helpers/recent.ts';
export { table } from './helpers/text-table.ts';
export { isPublicAddress } from './outgoing/guarded-fetch.ts';
export { type Queue, queueOf } from './runtime/stage.ts';
export { startAhead, startThread, type Thread, type ThreadEvents } from './runtime/thread.ts';
export { readName } from './sdk/names.ts';
export { type Chore, createChore } from './sdk/periodic-task.ts';
export {
  isInScope,
  isListed,
  isListedWithId,
  type Scope,
  scopeProperties,
  scopeServices,
  starIn,
  warnOfScope,
} from './sdk/scope.ts';
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
} from './store/sql-conditions.ts';
export {
  addAmounts,
  checkedValue,
  largestPartsSql,
  partsOfSum,
  readSum,
  sumOfPartsSql,
  sumPartsSql,
  sumSql,
} from './store/values.ts';
export type { Matches } from './text-search/matches.ts';
export {
  createSearch,
  MOST_MATCHES,
  replaceMatches,
  type Search,
  tooManyMatches,
} from './text-search/search.ts';
export { serveSearch } from './text-search/serve-search.ts';
export { createTurns, type TurnLimits, type Turns } from './text-search/turns.ts';
export {
  isPossible,
  MOST_TOKENS,
  saneImages,
  saneSeconds,
  saneUsage,
  wholeTokens,
} from './translation/conversation/sane-usage.ts';
export { proxySchema, proxySecrets } from './upstream/proxy.ts';
