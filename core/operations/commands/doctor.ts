/** `turnpike doctor`: examines configuration, files, disk, TLS, proxies, store, backups, and what plugins depend on. */

import { X509Certificate } from 'node:crypto';
import { existsSync, statfsSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { type Assembly, type Plan, planOf, rehearse } from '../../assembly/assemble.ts';
import { isOnServer, keySourceOf, openForCommand, storeFileOf, unfitKey } from '../../assembly/open-store.ts';
import { reportOf } from '../../assembly/report.ts';
import { confusesNames } from '../../bytes/json-parse.ts';
import { readBackup } from '../../config/backup-section.ts';
import { ConfigError, type ConfigFile, problemLine } from '../../config/file.ts';
import type { Diagnosis } from '../../contracts/diagnosis.ts';
import type { BackupSchedule, Running } from '../../contracts/running.ts';
import { createAsking } from '../../outgoing/vendor-request.ts';
import { StoreInUse } from '../../plugin.ts';
import { systemClock } from '../../runtime/clock.ts';
import { silentLog } from '../../runtime/logger.ts';
import { connectionsWithin, descriptorLimit } from '../../server/descriptors.ts';
import { CORE_TABLES, pendingMigrations } from '../../store/migrations.ts';
import { openUpstream } from '../../upstream/client.ts';
import { machineMemory, memoryForBodies } from '../../workers/memory.ts';
import { version } from '../monitor/running.ts';
import { askControl, controlPath } from './control-socket.ts';
import { readComplete } from './stored-config.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** What a running gateway tells its doctor, as JSON. */
export interface GatewayFacts {
  readonly version: string;
  readonly startedMs: number;
  readonly proxy: ReturnType<Running['proxy']>;
  readonly backups: BackupSchedule | null;
  /** Its limit of open files; null if it is not known. */
  readonly descriptors?: number | null;
}

/** Examines everything, for a command. Never rejects because of a finding. */
export async function examineFile(configFile: string, env: Env): Promise<readonly Diagnosis[]> {
  let file: ConfigFile;
  try {
    file = await readComplete(configFile, env);
  } catch (error) {
    return [
      nodeVersion(),
      ...reasonOf(error)
        .split('\n')
        .map((line) => wrong(configFile, line)),
    ];
  }
  return examine(await planOf(file, []));
}

/**
 * The same for a configuration that was read. `own`: the facts of the gateway that examines itself; otherwise the running gateway is asked, if there is
 * one.
 */
export async function examine(plan: Plan, own?: GatewayFacts): Promise<readonly Diagnosis[]> {
  const found: Diagnosis[] = [nodeVersion()];
  const upstream = openUpstream(systemClock);
  try {
    let assembly: Assembly;
    try {
      assembly = await rehearse(plan, { ask: (...of) => createAsking(upstream, systemClock, ...of) });
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      return [
        ...found,
        ...error.problems.map((problem) => wrong(plan.file.file, problemLine(plan.file.file, problem))),
      ];
    }
    found.push(
      ...configuration(plan, assembly),
      ...fileModes(plan, assembly),
      ...certificate(assembly, systemClock.now()),
    );
    const facts =
      own ??
      (await factsOf(plan).catch((error: unknown) => {
        found.push({ topic: 'gateway', level: 'problem', text: reasonOf(error) });
        return undefined;
      }));
    found.push(
      ...(await storeOf(plan, facts)),
      ...disk(plan),
      ...descriptors(facts),
      memoryOf(assembly),
      ...proxies(assembly, facts),
      ...backups(plan, facts),
    );
    found.push(...(await diagnosesOf(assembly)));
    return found;
  } finally {
    await upstream.close();
  }
}

/** A plugin that has not answered by then is a finding. */
const PLUGIN_MS = 20_000;

/** Those of all plugins. */
async function diagnosesOf({ players }: Assembly): Promise<readonly Diagnosis[]> {
  const all = await Promise.all(
    players.map(async ({ name, parts }): Promise<readonly Diagnosis[]> => {
      try {
        return (await withinLimit(parts.diagnose?.())) ?? [];
      } catch (error) {
        return [{ topic: `plugin ${name}`, level: 'problem', text: `it could not be examined: ${reasonOf(error)}` }];
      }
    }),
  );
  return all.flat();
}

/** Rejects if the work takes longer than `PLUGIN_MS`. */
function withinLimit<T>(work: T | Promise<T>): Promise<T> {
  let cancel = (): void => {};
  const limit = new Promise<never>((_, failed) => {
    cancel = systemClock.after(PLUGIN_MS, () => failed(new Error(`it did not end within ${PLUGIN_MS / 1_000} s`)));
  });
  return Promise.race([work, limit]).finally(cancel);
}

/** One line per finding, problems last, so that they are on the screen; the advice below it. */
export function describeDiagnoses(found: readonly Diagnosis[]): string {
  const lines = (['ok', 'warning', 'problem'] as const).flatMap((level) =>
    found
      .filter((each) => each.level === level)
      .map(({ topic, text, advice }) => {
        const line = `${level.padEnd(9)}${topic}: ${text}`;
        return advice === undefined ? line : `${line}\n${''.padEnd(9)}→ ${advice}`;
      }),
  );
  const count = (level: Diagnosis['level']): number => found.filter((each) => each.level === level).length;
  return [...lines, `${count('problem')} problems, ${count('warning')} warnings`].join('\n');
}

const wrong = (file: string, text: string): Diagnosis => ({
  topic: 'configuration',
  level: 'problem',
  text,
  advice: `correct ${basename(file)}; \`turnpike check\` validates it`,
});

/** End of support of each even version, from the release schedule of Node.js (nodejs/Release, schedule.json). */
const NODE_ENDS: Readonly<Record<number, string>> = {
  20: '2026-04-30',
  22: '2027-04-30',
  24: '2028-04-30',
  26: '2029-04-30',
};

function nodeVersion(): Diagnosis {
  const major = Number(process.versions.node.split('.')[0]);
  const end = NODE_ENDS[major];
  const mended = confusesNames ? ' (its JSON.parse confuses member names; Turnpike mends that at its start)' : '';
  const text = `Turnpike ${version}, Node ${process.versions.node}${mended}`;
  if (end === undefined || Date.parse(end) > systemClock.now()) return { topic: 'versions', level: 'ok', text };
  const advice = 'install a supported version of Node';
  return { topic: 'versions', level: 'warning', text: `${text}, which has had no updates since ${end}`, advice };
}

/** Everything that `check` warns about. */
function configuration(plan: Plan, assembly: Assembly): readonly Diagnosis[] {
  const warnings = reportOf(assembly, plan.file.file)
    .split('\n')
    .filter((line) => line.startsWith('warning: '))
    .map((line): Diagnosis => ({ topic: 'configuration', level: 'warning', text: line.slice('warning: '.length) }));
  const { plugins } = plan;
  const text = `${plan.file.file} is valid; ${plugins.length} plugins`;
  return [{ topic: 'configuration', level: 'ok', text }, ...warnings];
}

/** Files with secrets, and who else may read or change them. */
function fileModes(plan: Plan, { listen }: Assembly): readonly Diagnosis[] {
  // Windows has no such permission bits.
  if (process.platform === 'win32') return [];
  const { dir, secrets, sources } = plan.file;
  // The first source is gateway.yaml, even if the rest of the configuration is in the database.
  const [file, text = ''] = [...sources][0]!;
  const store = storeFileOf(plan);
  const isSecret = secrets.some((secret) => text.includes(secret));
  const checked: (Diagnosis | undefined)[] = [
    modeOf(file, isSecret ? 0o077 : 0o022, isSecret ? 'it contains secrets' : 'it decides what runs'),
    modeOf(join(dir, '.env'), 0o077, 'it contains secrets'),
    modeOf(keySourceOf(plan).file, 0o077, 'it is the master key'),
    ...['', '-wal'].map((end) => modeOf(`${store}${end}`, 0o077, 'it contains accounts and usage')),
    ...(listen.tls === undefined ? [] : [modeOf(resolve(dir, listen.tls.key), 0o077, 'it is a private key')]),
  ];
  const problems = checked.filter((each) => each !== undefined);
  return problems.length > 0 ? problems : [{ topic: 'files', level: 'ok', text: 'only this user can read secrets' }];
}

/** Undefined: no other user has these permissions, or there is no such file. */
function modeOf(file: string, forbidden: number, why: string): Diagnosis | undefined {
  const mode = statSync(file, { throwIfNoEntry: false })?.mode ?? 0;
  if ((mode & forbidden) === 0) return undefined;
  const may = (mode & forbidden & 0o022) === 0 ? 'read' : 'change';
  const advice = `chmod ${forbidden === 0o077 ? 'go=' : 'go-w'} ${file}`;
  return { topic: 'files', level: 'problem', text: `other users of this machine may ${may} ${file}; ${why}`, advice };
}

const DAY_MS = 86_400_000;
const WARN_DAYS = 21;
const URGENT_DAYS = 7;

/** The certificate of `listen.tls`. */
export function certificate({ tls }: Pick<Assembly, 'tls'>, nowMs: number): readonly Diagnosis[] {
  if (tls === undefined) return [];
  const { validFrom, validTo, subjectAltName } = new X509Certificate(tls.cert);
  const days = Math.floor((Date.parse(validTo) - nowMs) / DAY_MS);
  const about = `the certificate for ${subjectAltName ?? 'no name'}`;
  const advice = 'renew it, and let the renewal send SIGHUP to the gateway';
  const topic = 'TLS';
  if (Date.parse(validFrom) > nowMs)
    return [{ topic, level: 'problem', text: `${about} is not valid before ${validFrom}`, advice }];
  if (days < 0) return [{ topic, level: 'problem', text: `${about} expired on ${validTo}`, advice }];
  const level = days < URGENT_DAYS ? 'problem' : days < WARN_DAYS ? 'warning' : 'ok';
  return [{ topic, level, text: `${about} expires in ${days} days`, ...(level !== 'ok' && { advice }) }];
}

/** What the running gateway reports; undefined: none runs. */
async function factsOf(plan: Plan): Promise<GatewayFacts | undefined> {
  const line = { argv: ['doctor'], stdin: '', cwd: process.cwd() };
  const answer = await askControl(controlPath(storeFileOf(plan)), line);
  return answer === undefined || answer.code !== 0 ? undefined : (JSON.parse(answer.stdout) as GatewayFacts);
}

async function storeOf(plan: Plan, facts: GatewayFacts | undefined): Promise<readonly Diagnosis[]> {
  if (facts !== undefined) {
    const text = `the gateway runs since ${new Date(facts.startedMs).toISOString()}`;
    if (facts.version === version) return [{ topic: 'gateway', level: 'ok', text }];
    const advice = 'restart the gateway';
    const level = 'warning';
    return [
      { topic: 'gateway', level, text: `${text} with version ${facts.version}; installed is ${version}`, advice },
    ];
  }
  if (!isOnServer(plan) && !existsSync(storeFileOf(plan)) && !existsSync(keySourceOf(plan).file))
    return [{ topic: 'store', level: 'ok', text: 'there is no database yet: the first start creates it' }];
  try {
    const store = await openForCommand(plan, silentLog);
    let pending: number;
    try {
      pending = (await pendingMigrations(store, [CORE_TABLES, ...plan.plugins])).length;
    } finally {
      await store.close();
    }
    const unfit = await unfitKey(plan, silentLog);
    if (unfit !== undefined) return [{ topic: 'store', level: 'problem', text: unfit }];
    const text = `no gateway runs; the database is ${pending === 0 ? 'up to date' : 'of an older version'}`;
    const advice = 'run `turnpike upgrade`, or start the gateway, which migrates it';
    return [{ topic: 'store', level: pending === 0 ? 'ok' : 'warning', text, ...(pending > 0 && { advice }) }];
  } catch (error) {
    if (error instanceof StoreInUse)
      return [{ topic: 'store', level: 'warning', text: 'another process uses the database, and answers no commands' }];
    return [{ topic: 'store', level: 'problem', text: reasonOf(error) }];
  }
}

const MIB = 1_024 ** 2;
const GIB = 1_024 ** 3;
const SCARCE_SHARE = 0.1;

/** The disk of the store, or of the folder that will have it. */
function disk(plan: Plan): readonly Diagnosis[] {
  let folder = dirname(storeFileOf(plan));
  while (!existsSync(folder) && folder !== dirname(folder)) folder = dirname(folder);
  const { bavail, blocks, bsize } = statfsSync(folder);
  const [free, all] = [bavail * bsize, blocks * bsize];
  const text = `${(free / GIB).toFixed(1)} of ${(all / GIB).toFixed(1)} GiB are free at ${folder}`;
  const advice = 'free space, or move the database to a larger disk';
  const level = free < GIB / 4 ? 'problem' : free < Math.min(GIB, all * SCARCE_SHARE) ? 'warning' : 'ok';
  return [{ topic: 'disk', level, text, ...(level !== 'ok' && { advice }) }];
}

/** Below this, a busy gateway refuses connections. */
const FEW_DESCRIPTORS = 8_192;

/** How many files the running gateway may have open; without one, this process. */
function descriptors(facts: GatewayFacts | undefined): readonly Diagnosis[] {
  const limit = facts?.descriptors ?? descriptorLimit();
  if (limit === undefined) return [];
  const text = `${limit} files and connections may be open in each process; it accepts ${connectionsWithin(limit)} connections of clients`;
  if (limit >= FEW_DESCRIPTORS) return [{ topic: 'open files', level: 'ok', text }];
  const advice =
    'raise the limit: `ulimit -n 65536` in the shell, `LimitNOFILE=65536` in a systemd unit, `--ulimit nofile=65536` of a container';
  return [{ topic: 'open files', level: 'warning', text, advice }];
}

/** Whether the machine has the memory that the configuration gives to bodies. */
function memoryOf({ listen }: Assembly): Diagnosis {
  const [configured, { total }] = [listen.body.inFlight.memory.total, memoryForBodies(listen)];
  const mib = (bytes: number): string => `${Math.floor(bytes / MIB)} MiB`;
  const text = `${mib(machineMemory())} of memory; the bodies of running requests may use ${mib(total)} in each process`;
  if (total >= configured) return { topic: 'memory', level: 'ok', text };
  const advice = `more memory for the ${mib(configured)} of listen.body.inFlight.memory.total, or a lower value there`;
  return { topic: 'memory', level: 'warning', text, advice };
}

const LOOPBACK = /^(127\.|localhost$|::1$)/;

function proxies({ listen }: Assembly, facts: GatewayFacts | undefined): readonly Diagnosis[] {
  const topic = 'proxy';
  const untrusted = facts?.proxy.untrusted;
  if (untrusted !== undefined) {
    return [
      {
        topic,
        level: 'problem',
        text: `requests with X-Forwarded-For come from ${untrusted}, which listen.trustProxy does not name: all users share its address in limits and logs`,
        advice: `if it is your proxy, add ${untrusted} to listen.trustProxy; otherwise a client sends the header, and nothing is to be done`,
      },
    ];
  }
  const { trustProxy, host, tls } = listen;
  const everybody = trustProxy.filter((range) => /\/0$/.test(range));
  if (everybody.length > 0) {
    const text = `listen.trustProxy trusts everybody (${everybody.join(', ')}): clients choose their address with X-Forwarded-For`;
    return [{ topic, level: 'problem', text, advice: 'name only the addresses of your proxies' }];
  }
  if (trustProxy.length > 0 && tls !== undefined && !LOOPBACK.test(host)) {
    const text = 'listen.trustProxy is set, although the gateway itself serves TLS to other machines';
    return [{ topic, level: 'warning', text, advice: 'without a proxy, remove listen.trustProxy' }];
  }
  if (tls === undefined && trustProxy.length === 0 && !LOOPBACK.test(host)) {
    const text = `the gateway listens on ${host} without TLS: keys and passwords are readable on the network`;
    return [{ topic, level: 'warning', text, advice: 'set listen.tls, or put a proxy with TLS in front' }];
  }
  const text = trustProxy.length > 0 ? `trusted: ${trustProxy.join(', ')}` : 'none is trusted, and none was seen';
  return [{ topic, level: 'ok', text }];
}

function backups(plan: Plan, facts: GatewayFacts | undefined): readonly Diagnosis[] {
  const topic = 'backups';
  const settings = readBackup(plan.values.backup);
  if (settings === undefined) {
    const advice = 'add the section `backup` to gateway.yaml, or run `turnpike backup FILE` regularly';
    return [{ topic, level: 'warning', text: 'none are scheduled', advice }];
  }
  // Only a gateway that runs knows their results.
  if (facts === undefined || facts.backups === null) return [];
  const { proven, failed } = facts.backups;
  const advice = 'see the log; `turnpike backup now` makes one';
  if (failed !== undefined) return [{ topic, level: 'problem', text: `the last one failed: ${failed.reason}`, advice }];
  if (proven === undefined) return [{ topic, level: 'warning', text: 'none was made yet', advice }];
  const text = `${proven.name} was proven`;
  const isLate = systemClock.now() - proven.atMs > 2 * settings.everyMs;
  return [isLate ? { topic, level: 'problem', text: `${text}, and none since`, advice } : { topic, level: 'ok', text }];
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
