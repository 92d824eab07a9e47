import { lazyRouteComponent } from '@tanstack/react-router';

/** A part of the console was not loaded: the service is away, or was upgraded and no longer has it. */
export class PartNotLoaded extends Error {
  override name = 'PartNotLoaded';
}

/** Loads the component of a page. The router would reload the tab after a failure, also while the service is away. */
export const lazyPage: typeof lazyRouteComponent = (load, ...exported) =>
  lazyRouteComponent(
    () =>
      load().catch((cause: unknown) => {
        throw new PartNotLoaded('This page could not be loaded.', { cause });
      }),
    ...exported,
  );
