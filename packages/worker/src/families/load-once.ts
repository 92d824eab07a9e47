/** Returns a function that calls `make` at its first call, and then returns the same promise. */
export function loadOnce<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
