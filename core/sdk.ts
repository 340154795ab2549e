/** `turnpike/sdk`: helpers that plugins share. None of them is needed to write a plugin, and none knows the gateway. */
export { canonicalRange, createAddressList } from './address.ts';
export { BASE62, randomBase62 } from './base62.ts';
export { boundedMap } from './bounded.ts';
export { type Chore, createChore } from './chore.ts';
export { all, type Condition, condition, contains, either, mentions, readPage } from './conditions.ts';
export { nearest } from './config/nearest.ts';
export { checkValue } from './config/validator.ts';
export { byteSize, duration, durationMs, size } from './config/values.ts';
export { type Decimal, decimal, decimalText, highest, inUnitsOf } from './decimal.ts';
export { isPublicAddress } from './guarded-fetch.ts';
export { checkKinds } from './kinds.ts';
export { readName } from './names.ts';
export { listenPrivately } from './private-socket.ts';
export { isInScope, type Scope, scopeProperties } from './scope.ts';
export { starIn } from './star.ts';
export { addAmounts, checkedValue } from './store-values.ts';
export { table } from './table.ts';
export { startAhead, startThread, type Thread, type ThreadEvents } from './thread.ts';
