/** Lets pages open while the service is away. Browsers allow it only over HTTPS and on this machine. */
export async function registerServiceWorker(): Promise<void> {
  if (!('serviceWorker' in navigator) || !import.meta.env.PROD) return;
  try {
    await navigator.serviceWorker.register('/service-worker.js');
    const { active } = await navigator.serviceWorker.ready;
    const loaded = performance.getEntriesByType('resource').map(({ name }) => new URL(name));
    const assets = loaded.filter(
      ({ origin, pathname }) => origin === location.origin && pathname.startsWith('/assets/'),
    );
    active?.postMessage(assets.map(({ pathname }) => pathname));
  } catch {
    // Without it the browser shows its own error while the service is away.
  }
}
