/** Parts of the console that are fetched when they are first shown. */
import { type ComponentType, type LazyExoticComponent, lazy } from 'react';

/** A part did not come: the gateway is away, or it has another build by now. Browsers try the same address never again. */
export class NotFetched extends Error {}

/** A component that stands for the one to be fetched; around it belong a `Suspense` and a boundary. */
export function fetched<Props>(
  load: () => Promise<{ readonly default: ComponentType<Props> }>,
): LazyExoticComponent<ComponentType<Props>> {
  return lazy(() =>
    load().catch((why: unknown) => {
      throw new NotFetched(why instanceof Error ? why.message : String(why), { cause: why });
    }),
  );
}
