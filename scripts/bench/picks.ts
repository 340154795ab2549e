/** The compared values of a sample. */
import type { Pick } from './rounds.ts';

export const cpu: Pick = (sample) => sample.cpu;
export const perSecond: Pick = (sample) => sample.perSecond;
export const p50: Pick = (sample) => sample.p50;
export const p99: Pick = (sample) => sample.p99;
export const firstByte: Pick = (sample) => sample.firstByteP50;
export const lastFirstByte: Pick = (sample) => sample.firstByteP99;
export const cpuPerEvent: Pick = (sample) => sample.cpuPerEvent;
export const eventDelay: Pick = (sample) => sample.eventDelayP99;
export const failed: Pick = (sample) => sample.failed;
export const perStream: Pick = ({ memoryBefore, memoryDuring, answered, failed }) =>
  memoryBefore === undefined || memoryDuring === undefined
    ? undefined
    : (memoryDuring - memoryBefore) / (answered + failed);
