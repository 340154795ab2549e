/** What work costs the processor: other processes of a busy machine do not count, so a bound far above it holds anywhere. */

/** Starts counting; the returned function says how many milliseconds of the processor this process has used since. */
export function processorTime(): () => number {
  const before = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  };
}
