/**
 * The Lua script that counts in Valkey. The server runs a script as a whole, so each operation is atomic. All operations are in one script, so
 * that a server that lost its script cache has lost all of them, and no operation overtakes another.
 *
 * A window is a sorted set: a member `atMs:cost` for each millisecond in which something was taken, with the time as its score, and first the
 * member `sum`, whose score is the negative sum of the costs, so that it sorts before all times. A gate is a sorted set of its members, with
 * the end of their lease as their score. Both expire by themselves when nothing in them counts any more.
 */
import { createHash } from 'node:crypto';

/** A script, and the SHA-1 under which the server caches it. */
export interface Script {
  readonly text: string;
  readonly sha: string;
}

/**
 * The operations of the script; the last argument selects one.
 *
 * - `take`. Keys: windows, then gates. Arguments: deadline, number of windows, id of the member, duration of a lease; limit, length and cost of
 *   each window; limit of each gate. Returns `refusedBy` or `LATE`, the time, and for each window whether it has room, what remains, how long
 *   to wait (-1: forever) and when it is empty.
 * - `correct`. Keys: windows. Arguments: the time of `take`, and the amount to add to each window.
 * - `leave`. Keys: gates. Argument: id of the member.
 * - `look`. Key: a window. Arguments: its limit, length and cost. Returns the same as `take` for one window.
 * - `inside`. Key: a gate. Returns its number of members.
 * - `stay`. Keys: gates. Arguments: deadline, duration of a lease; for each gate the number of members and their ids, whatever its limit is.
 *   Returns -1 or `LATE`, and the time.
 */
export type Operation = 'take' | 'correct' | 'leave' | 'look' | 'inside' | 'stay';

/** The answer to an operation that arrived after its deadline and did nothing. */
export const LATE = -2;

/** The server's time in microseconds. */
const SERVER_TIME = "(function() local t = redis.call('TIME') return t[1] * 1000000 + t[2] end)()";

/** Creates it. `time`: replaces the server's time in tests. */
export function createScript(time: string = SERVER_TIME): Script {
  // Whole milliseconds, rounded so that a window is never shorter than its length.
  const text = `
local us = ${time}
local now, at = math.floor(us / 1000), math.ceil(us / 1000)
local function text(n) return string.format('%.17g', n) end
local function costOf(entry) return tonumber(string.match(entry, ':(.+)$')) end
local function sumOf(key) return -tonumber(redis.call('ZSCORE', key, 'sum') or 0) end
local function add(key, cost) redis.call('ZINCRBY', key, text(-cost), 'sum') end
local function prune(key, length)
  local gone = redis.call('ZRANGEBYSCORE', key, '(0', text(now - length))
  if #gone == 0 then return end
  local cost = 0
  for i = 1, #gone do cost = cost + costOf(gone[i]) end
  redis.call('ZREMRANGEBYSCORE', key, '(0', text(now - length))
  add(key, -cost)
end
-- Milliseconds until enough of the oldest cost has left the window to free \`over\`; -1: never.
local function wait(key, length, over)
  local from = 1
  while true do
    local entries = redis.call('ZRANGE', key, from, from + 63, 'WITHSCORES')
    if #entries == 0 then return -1 end
    for i = 1, #entries, 2 do
      over = over - costOf(entries[i])
      if over <= 0 then return entries[i + 1] + length - now end
    end
    from = from + 64
  end
end
-- Milliseconds until the newest cost has left the window.
local function reset(key, length)
  local newest = redis.call('ZRANGE', key, -1, -1, 'WITHSCORES')
  if #newest == 0 or newest[1] == 'sum' then return 0 end
  return newest[2] + length - now
end

local operation = ARGV[#ARGV]
if operation == 'take' then
  if us > tonumber(ARGV[1]) * 1000 then return { ${LATE}, at } end
  local count, who, lease = tonumber(ARGV[2]), ARGV[3], tonumber(ARGV[4])
  local refusedBy = -1
  local taken = {}
  for i = 1, count do
    local limit, length, cost = tonumber(ARGV[3 * i + 2]), tonumber(ARGV[3 * i + 3]), tonumber(ARGV[3 * i + 4])
    prune(KEYS[i], length)
    local sum = sumOf(KEYS[i])
    taken[i] = { limit, length, cost, sum }
    if refusedBy < 0 and sum + cost > limit then refusedBy = i - 1 end
  end
  for i = count + 1, #KEYS do
    redis.call('ZREMRANGEBYSCORE', KEYS[i], '-inf', text(now))
    local limit = tonumber(ARGV[4 + 3 * count + i - count])
    if refusedBy < 0 and redis.call('ZCARD', KEYS[i]) >= limit and not redis.call('ZSCORE', KEYS[i], who) then
      refusedBy = i - 1
    end
  end
  local answer = { refusedBy, at }
  for i = 1, count do
    local limit, length, cost, sum = unpack(taken[i])
    local over = sum + cost - limit
    if refusedBy < 0 then
      local same = redis.call('ZRANGEBYSCORE', KEYS[i], text(at), text(at))[1]
      local all = cost
      if same then
        all = all + costOf(same)
        redis.call('ZREM', KEYS[i], same)
      end
      redis.call('ZADD', KEYS[i], text(at), text(at) .. ':' .. text(all))
      add(KEYS[i], cost)
      redis.call('PEXPIRE', KEYS[i], text(length + 1))
      sum = sum + cost
    end
    table.insert(answer, over <= 0 and 1 or 0)
    table.insert(answer, math.max(0, limit - sum))
    table.insert(answer, over <= 0 and 0 or wait(KEYS[i], length, over))
    table.insert(answer, reset(KEYS[i], length))
  end
  if refusedBy < 0 then
    for i = count + 1, #KEYS do
      redis.call('ZADD', KEYS[i], text(now + lease), who)
      redis.call('PEXPIRE', KEYS[i], text(lease))
    end
  end
  return answer
elseif operation == 'correct' then
  for i = 1, #KEYS do
    local entry = redis.call('ZRANGEBYSCORE', KEYS[i], ARGV[1], ARGV[1])[1]
    if entry then
      local cost = costOf(entry)
      -- A window that has expired may have a successor, which holds nothing of what is corrected.
      local change = math.max(tonumber(ARGV[i + 1]), -cost)
      redis.call('ZREM', KEYS[i], entry)
      -- What is given back leaves no trace, so that refused calls do not fill the window.
      if cost + change > 0 then redis.call('ZADD', KEYS[i], ARGV[1], ARGV[1] .. ':' .. text(cost + change)) end
      add(KEYS[i], change)
    end
  end
elseif operation == 'leave' then
  for i = 1, #KEYS do redis.call('ZREM', KEYS[i], ARGV[1]) end
elseif operation == 'look' then
  local limit, length, cost = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
  prune(KEYS[1], length)
  local sum = sumOf(KEYS[1])
  local over = sum + cost - limit
  if over <= 0 then return { 1, limit - sum - cost, 0, length } end
  return { 0, math.max(0, limit - sum), wait(KEYS[1], length, over), reset(KEYS[1], length) }
elseif operation == 'inside' then
  return redis.call('ZCOUNT', KEYS[1], '(' .. text(now), '+inf')
elseif operation == 'stay' then
  if us > tonumber(ARGV[1]) * 1000 then return { ${LATE}, at } end
  local ends, next = text(now + tonumber(ARGV[2])), 3
  for i = 1, #KEYS do
    local last = next + tonumber(ARGV[next])
    for j = next + 1, last do redis.call('ZADD', KEYS[i], ends, ARGV[j]) end
    redis.call('PEXPIRE', KEYS[i], ARGV[2])
    next = last + 1
  end
  return { -1, at }
end
`;
  return { text, sha: createHash('sha1').update(text).digest('hex') };
}
