/** `closed` until the stream is open, and where it cannot be opened: pages poll then. */
export type Connection = 'closed' | 'open' | 'lost';
