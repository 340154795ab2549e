/** Metrics of the gateway's state: version, running calls, database, backup, circuits. They are read when they are scraped. */
import type { Registry } from 'prom-client';
import type { Catalog, ChannelState } from '../../core/contracts/catalog.ts';
import type { Running } from '../../core/contracts/running.ts';
import { createGauge } from './numbers.ts';

const STATES: readonly ChannelState[] = ['closed', 'half-open', 'open'];

/** Creates the gauges. Only for the process that is scraped: with workers, the owner, which knows the state of all of them. */
export function createStateGauges(registers: readonly Registry[]) {
  const gauge = (name: string, help: string, labelNames: readonly string[] = []) =>
    createGauge({ name, help, labelNames, registers });
  const info = gauge('turnpike_info', 'Always 1; the labels are the versions of the gateway and of Node.js.', [
    'version',
    'node_version',
  ]);
  const ready = gauge('turnpike_ready', '1 while the gateway takes calls, as /readyz reports it; otherwise 0.');
  const inFlight = gauge('turnpike_calls_in_flight', 'Running calls.');
  const loaded = gauge(
    'turnpike_config_loaded_timestamp_seconds',
    'When the running gateway.yaml was loaded, unix time.',
  );
  const queue = gauge('turnpike_store_queue_length', 'Transactions that wait to be written to the database.');
  const writable = gauge('turnpike_store_writable', '1 while the database can be written; otherwise 0.');
  const size = gauge('turnpike_store_size_bytes', 'Size of the database file.');
  const logSize = gauge('turnpike_store_log_size_bytes', 'Size of the write-ahead log of the database.');
  const diskSize = gauge('turnpike_store_disk_size_bytes', 'Size of the disk of the database.');
  const diskFree = gauge('turnpike_store_disk_free_bytes', 'Free space on the disk of the database.');
  const backupTime = gauge(
    'turnpike_last_backup_timestamp_seconds',
    'When the last `turnpike backup` began, unix time; absent if there was none.',
  );
  const backupSize = gauge('turnpike_last_backup_size_bytes', 'Size of the last backup.');
  const circuit = gauge(
    'turnpike_channel_circuit',
    '1 for the circuit state of the channel, which is that of its worst model; 0 for the other states.',
    ['channel', 'state'],
  );
  const key = gauge(
    'turnpike_channel_key_available',
    '1 while the key of the channel is used; 0 while it is paused because the vendor does not accept or has limited it.',
    ['channel', 'key'],
  );

  return {
    /** Reads the current state. Services that are undefined leave their metrics without samples. */
    async look(running: Running | undefined, catalog: Catalog | undefined): Promise<void> {
      const channels = (catalog?.channels() ?? []).filter(({ on }) => on);
      key.show(
        channels.flatMap(({ name, keys }) =>
          keys.map(({ number, state }) => [state === 'available' ? 1 : 0, name, String(number)] as const),
        ),
      );
      circuit.show(
        channels.flatMap((channel) =>
          STATES.map((state) => [channel.state === state ? 1 : 0, channel.name, state] as const),
        ),
      );
      const vitals = await running?.vitals('gateway');
      if (vitals === undefined) return;
      const { store, backup } = vitals;
      info.show([[1, vitals.version, vitals.node]]);
      ready.show([[vitals.gateways[0]?.report?.readiness === 'ready' ? 1 : 0]]);
      inFlight.show([[vitals.inFlight]]);
      loaded.show([[vitals.configuration.loadedMs / 1_000]]);
      queue.show([[store.waiting]]);
      writable.show([[store.writable ? 1 : 0]]);
      size.show(known(store.room?.file));
      logSize.show(known(store.room?.log));
      diskSize.show(known(store.room?.disk));
      diskFree.show(known(store.room?.free));
      backupTime.show(known(backup === undefined ? undefined : backup.atMs / 1_000));
      backupSize.show(known(backup?.bytes));
    },
  };
}

/** The samples of a gauge without labels. */
function known(value: number | undefined): readonly (readonly [number])[] {
  return value === undefined ? [] : [[value]];
}
