declare module 'pg/lib/utils.js' {
  const utils: {
    /** The value of a parameter as Postgres reads it. */
    prepareValue(value: unknown): string | Buffer | null;
  };
  export default utils;
}
