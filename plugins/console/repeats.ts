/**
 * Requests with an `Idempotency-Key`: each is carried out once, however often and wherever it is sent again, and a repetition gets the first answer.
 * The row is written before the work begins. The list that changes something also marks the row, so that a kill leaves no doubt.
 */
import { createHmac } from 'node:crypto';
import { Answer, answer, GatewayError, type Host, type Step, type Surrender } from '../../core/plugin.ts';
import { createChore } from '../../core/sdk.ts';
import { errors } from './errors.ts';
import { spell, spellError } from './format/envelope.ts';
import type { ApiRoute, ConsoleRequest } from './route.ts';

/** How long answers are kept. */
const KEPT_MS = 86_400_000;
/** How many are kept of one account. */
const MOST = 1_000;
/** A longer answer is not kept. */
const LONGEST = 64 * 1_024;
const SWEEP_EVERY_MS = 3_600_000;

const THIS = 'account_id = ? AND key = ?';
const OURS = `${THIS} AND claim = ?`;

interface Row {
  readonly digest: string;
  readonly claim: string;
  readonly changed: number;
  readonly answer: string | null;
}

/** An answer as it is kept. */
interface Kept {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: string;
}

/** Whether a route obeys `Idempotency-Key`: it changes something for a user who is signed in. */
export function isRepeatable({ who, method, changes }: ApiRoute): boolean {
  return who !== 'visitor' && who !== 'key' && (method !== 'GET' || changes === true);
}

/** The step that deletes the kept answers of an account. */
export function forgetStep(accountId: number): Step {
  return { sql: 'DELETE FROM api_request WHERE account_id = ?', params: [accountId] };
}

/** Answers requests once. */
export function createRepeats(host: Host) {
  const { store, clock, vault, boot, peers, log } = host;
  /** The claims of requests that this process is working on. */
  const working = host.lasting({ name: 'console.requests', version: 1, make: () => new Set<string>() });
  const chore = createChore(host, {
    everyMs: SWEEP_EVERY_MS,
    async work() {
      await store.run('DELETE FROM api_request WHERE at_ms < ?', clock.now() - KEPT_MS);
    },
    failure: 'could not delete the answers that are kept for repeated requests',
  });

  /** Two requests are the same if this is. Keyed, because a body may have a password. */
  function digestOf({ method, path, query, body }: ConsoleRequest): string {
    const text = JSON.stringify([method, path, query ?? null, body ?? null]);
    return createHmac('sha256', vault.derive('digests of requests')).update(text).digest('base64url');
  }

  /** Whether no process works on the request any more. */
  async function isLeft(claim: string): Promise<boolean> {
    const [epoch = ''] = claim.split(' ');
    return epoch === boot ? !working.has(claim) : !(await peers.alive()).has(epoch);
  }

  async function keepFew(accountId: number, key: string): Promise<void> {
    const oldest = await store.one<{ at_ms: number }>(
      `SELECT at_ms FROM api_request WHERE account_id = ? ORDER BY at_ms DESC, key LIMIT 1 OFFSET ${MOST}`,
      accountId,
    );
    if (oldest === undefined) return;
    await store.run(
      'DELETE FROM api_request WHERE account_id = ? AND at_ms <= ? AND key <> ?',
      accountId,
      oldest.at_ms,
      key,
    );
  }

  /** Undefined: the request is to be carried out under this claim. Otherwise the answer of the first one, or a refusal. */
  async function claimed(place: readonly [number, string], digest: string, claim: string): Promise<Answer | undefined> {
    const nowMs = clock.now();
    const failed = await store.atomic([
      { sql: `DELETE FROM api_request WHERE ${THIS} AND at_ms < ?`, params: [...place, nowMs - KEPT_MS] },
      {
        sql: 'INSERT INTO api_request (account_id, key, digest, claim, at_ms) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING',
        params: [...place, digest, claim, nowMs],
        must: 'new',
      },
    ]);
    if (failed === undefined) {
      await keepFew(...place);
      return undefined;
    }
    const read = (): Promise<Row | undefined> =>
      store.one<Row>(`SELECT digest, claim, changed, answer FROM api_request WHERE ${THIS}`, ...place);
    const found = await read();
    const wasLeft = found?.answer === null && (await isLeft(found.claim));
    // The one that worked on it may have ended since the row was read, and have kept its answer.
    const row = wasLeft ? await read() : found;
    // The first one was refused in this moment.
    if (row === undefined) throw errors.request_running();
    if (row.digest !== digest) throw errors.idempotency_key_reused();
    if (row.answer !== null) return opened(place, row.answer);
    if (!wasLeft || row.claim !== found?.claim) throw errors.request_running();
    if (row.changed === 1) throw errors.answer_not_kept();
    const taken = await store.run(
      `UPDATE api_request SET claim = ?, at_ms = ? WHERE ${OURS} AND changed = 0 AND answer IS NULL`,
      ...[claim, nowMs, ...place, row.claim],
    );
    if (taken === 0) throw errors.request_running();
    return undefined;
  }

  function opened(place: readonly [number, string], sealed: string): Answer {
    let kept: Kept;
    try {
      kept = JSON.parse(vault.open(placeOf(place), sealed)) as Kept;
    } catch {
      // It was sealed with another master key.
      throw errors.answer_not_kept();
    }
    return answer(kept.status, kept.body, { ...kept.headers, 'idempotent-replayed': 'true' });
  }

  /** Keeps the answer. One that cannot be kept leaves the row, if something was changed: then a repetition is refused. */
  async function keep(place: readonly [number, string], claim: string, given: Answer | undefined): Promise<void> {
    const { status = 0, body, headers = {} } = given ?? {};
    // Cookies are for one browser.
    if (typeof body === 'string' && body.length <= LONGEST && headers['set-cookie'] === undefined) {
      const sealed = vault.seal(placeOf(place), JSON.stringify({ status, headers, body } satisfies Kept));
      await store.run(`UPDATE api_request SET answer = ? WHERE ${OURS}`, sealed, ...place, claim);
    } else {
      await store.run(`DELETE FROM api_request WHERE ${OURS} AND changed = 0`, ...place, claim);
    }
  }

  /** The answer to a refusal, if something had been changed before. Otherwise the request may be sent again. */
  async function refused(row: ApiRoute, place: readonly [number, string], claim: string, error: unknown) {
    const removed = await store.run(`DELETE FROM api_request WHERE ${OURS} AND changed = 0`, ...place, claim);
    if (removed > 0 || !(error instanceof GatewayError)) return;
    const body = JSON.stringify(spellError(row.spelling ?? 'envelope', error));
    await keep(place, claim, answer(error.status, body, { 'content-type': 'application/json', ...error.headers }));
  }

  return {
    /** Carries out a request with `work`, unless its key was used before. `work` gets the request with its conditions. */
    async answer(
      row: ApiRoute,
      request: ConsoleRequest,
      work: (request: ConsoleRequest) => Promise<unknown>,
    ): Promise<unknown> {
      const key = request.headers['idempotency-key'];
      if (key === undefined || !isRepeatable(row)) return work(request);
      if (!/^[\x20-\x7e]{1,255}$/.test(key)) throw errors.invalid_idempotency_key();
      const place = [request.account.id, key] as const;
      const claim = `${boot} ${request.id}`;
      working.add(claim);
      try {
        const before = await claimed(place, digestOf(request), claim);
        if (before !== undefined) return before;
        const mark = {
          sql: `UPDATE api_request SET changed = 1 WHERE ${OURS}`,
          params: [...place, claim],
          must: 'request_lost',
        };
        const unkept = (error: unknown) =>
          log.warn('could not keep the answer of a request', { id: request.id, error });
        try {
          const given = await work({ ...request, conditions: [mark, ...request.conditions] });
          const spelled = given instanceof Answer ? given : spelledAnswer(row, given);
          await keep(place, claim, spelled).catch(unkept);
          return spelled;
        } catch (error) {
          await refused(row, place, claim, error).catch(unkept);
          throw error;
        }
      } finally {
        working.delete(claim);
      }
    },

    async surrender(): Promise<readonly Surrender[]> {
      const row = await store.one<{ n: number }>('SELECT COUNT(*) AS n FROM api_request WHERE answer IS NOT NULL');
      return [
        {
          what: `${row?.n ?? 0} answers that are kept for repeated requests: a repetition is refused`,
          steps: [{ sql: 'UPDATE api_request SET changed = 1, answer = NULL WHERE answer IS NOT NULL' }],
        },
      ];
    },
    start: chore.start,
    stop: chore.stop,
  };
}

export type Repeats = ReturnType<typeof createRepeats>;

function spelledAnswer({ spelling = 'envelope' }: ApiRoute, given: unknown): Answer {
  return answer(200, JSON.stringify(spell(spelling, given)), { 'content-type': 'application/json' });
}

/** The vault context of an answer. */
function placeOf([accountId, key]: readonly [number, string]): string {
  return `api_request.answer ${accountId} ${key}`;
}
