/** What a plugin is created with when there is no gateway: a host that can do next to nothing, and its sections as they are by default. */
import type { Host, Plugin, Sections } from '../../../core/plugin.ts';
import { checkValue } from '../../../core/sdk.ts';
import { fakeClock } from './clock.ts';

/** A host with a clock and a log; services can be offered, and nothing asks for them. */
export function bareHost(): Host {
  const quiet = (): void => {};
  const log = { debug: quiet, info: quiet, warn: quiet, error: quiet, hide: quiet };
  return { clock: fakeClock(), log, provide: quiet } as unknown as Host;
}

/** The plugin's sections as they are without a gateway.yaml. */
export function defaultsOf(plugin: Plugin<Sections>): Record<string, unknown> {
  const config: Record<string, unknown> = {};
  for (const [section, schema] of Object.entries(plugin.sections ?? {})) {
    const { default: blank = {}, ...checked } = schema;
    config[section] = structuredClone(blank);
    checkValue(checked, config[section]);
  }
  return config;
}
