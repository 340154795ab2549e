/** The audit log: each entry is written in the same list as its change, and chained to the entry before it. */
import { Audit } from '../../core/contracts/audit.ts';
import { type Command, definePlugin, UsageError } from '../../core/plugin.ts';
import { createChore } from '../../core/sdk.ts';
import { createAudit } from './audit.ts';
import { type Head, readHead, verifyChain } from './chain.ts';
import { errors } from './errors.ts';
import { migrations } from './tables.ts';

/** The interval at which the date is checked. */
const LOOK_MS = 60 * 60_000;
const DAY_MS = 24 * LOOK_MS;

export default definePlugin({
  name: 'audit',
  api: 2,
  errors,
  migrations,
  provides: [Audit],
  create(host) {
    const { store, clock, log } = host;
    host.provide(Audit, createAudit(host));
    const logged = host.lasting({ name: 'audit.told', version: 1, make: () => ({ day: -1 }) });

    /** Once a day the head is written to the log file, which the owner of the database cannot change. */
    async function tellHead(): Promise<void> {
      const day = Math.floor(clock.now() / DAY_MS);
      if (day === logged.day) return;
      const { seq, hash } = await readHead(store);
      logged.day = day;
      if (seq > 0) log.info('the head of the audit log', { entries: seq, head: `${seq}:${hash}` });
    }

    const failure = 'the head of the audit log could not be read';
    const chore = createChore(host, { everyMs: LOOK_MS, work: tellHead, failure });

    const verify: Command = {
      name: 'audit verify',
      summary:
        'verifies that no entry of the audit log was changed or removed; --head SEQ:HASH: a head from the log file',
      options: { head: { type: 'string', value: 'SEQ:HASH' } },
      async run({ values }) {
        const { seq, hash, broken } = await verifyChain(store, readKnown(values.head));
        if (broken !== undefined) {
          throw errors.audit_broken(broken.seq, broken.why);
        }
        return { text: `${seq} entries, head ${seq}:${hash}\n`, json: { entries: seq, head: `${seq}:${hash}` } };
      },
    };

    return {
      commands: [verify],
      invariants: [
        {
          name: 'audit-chain-is-whole',
          async check(read) {
            const { broken } = await verifyChain(read);
            return broken === undefined ? [] : [`entry ${broken.seq}: ${broken.why}`];
          },
        },
      ],
      async start() {
        chore.start();
        if (!host.peers.leads()) return;
        // A damaged audit log must not stop the gateway: operations that have to be audited fail by themselves.
        await tellHead().catch((error: unknown) => log.error(failure, { error }));
      },
      stop: chore.stop,
    };
  },
});

/** A head in the format of the log file: `17:` and the hash. */
function readKnown(text: string | boolean | undefined): Head | undefined {
  if (typeof text !== 'string') return undefined;
  const [, seq, hash] = /^([1-9]\d{0,14}):([0-9a-f]{64})$/.exec(text) ?? [];
  if (seq === undefined || hash === undefined) throw new UsageError('--head must be SEQ:HASH, as in the log file');
  return { seq: Number(seq), hash };
}
