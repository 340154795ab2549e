/** Lazy components. */
import { type ComponentType, type LazyExoticComponent, lazy } from 'react';

/** A chunk could not be loaded: the gateway is unreachable, or was updated. Browsers do not retry the same URL. */
export class NotFetched extends Error {}

/** A component that is loaded when it is first rendered; wrap it in `Suspense` and a boundary. */
export function fetched<Props>(
  load: () => Promise<{ readonly default: ComponentType<Props> }>,
): LazyExoticComponent<ComponentType<Props>> {
  return lazy(() =>
    load().catch((why: unknown) => {
      throw new NotFetched(why instanceof Error ? why.message : String(why), { cause: why });
    }),
  );
}
