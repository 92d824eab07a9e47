// Keeps the code of the console, so that a page opened while the service is away shows the console, which recovers by itself,
// and not an error of the browser. It keeps no data.
const CACHE = 'console';
const SHELL = '/';
const GATEWAY_STATUSES = [502, 503, 504];

addEventListener('install', (event) => {
  event.waitUntil(
    fetch(SHELL)
      .then(keepShell)
      .then(() => skipWaiting()),
  );
});

addEventListener('activate', (event) => event.waitUntil(clients.claim()));

/** A page sends what it had loaded before the worker was active. */
addEventListener('message', ({ data }) => keepAssets(data));

addEventListener('fetch', (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (request.method !== 'GET' || origin !== location.origin) return;
  if (pathname.startsWith('/assets/')) event.respondWith(openAsset(request));
  else if (request.mode === 'navigate' && isPage(pathname)) event.respondWith(openPage(request));
});

const isPage = (path) => !/^\/(api|worker|mcp|blobs|docs|problems)(\/|$)/.test(path) && !/\.|^\/\w+z$/.test(path);

async function openPage(request) {
  try {
    const response = await fetch(request);
    if (response.ok) await keepShell(response.clone());
    if (!GATEWAY_STATUSES.includes(response.status)) return response;
  } catch {
    // The service is away.
  }
  return (await caches.match(SHELL)) ?? Response.error();
}

/** Files with a hash in their name never change. */
async function openAsset(request) {
  const kept = await caches.match(request);
  if (kept !== undefined) return kept;
  const response = await fetch(request);
  if (response.ok) await (await caches.open(CACHE)).put(request, response.clone());
  return response;
}

/** Keeps the page and the files that it names. Those of an earlier release are deleted. */
async function keepShell(response) {
  if (!response.ok) return;
  const page = await response.clone().text();
  const before = await caches.match(SHELL);
  if (before !== undefined && (await before.text()) === page) return;
  await caches.delete(CACHE);
  const cache = await caches.open(CACHE);
  await cache.put(SHELL, response);
  await keepAssets(page.match(/\/assets\/[\w.-]+/g) ?? []);
}

async function keepAssets(paths) {
  const cache = await caches.open(CACHE);
  for (const path of paths) {
    if ((await cache.match(path)) === undefined) await cache.add(path).catch(() => {});
  }
}
