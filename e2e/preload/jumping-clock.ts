// Preloaded into a process. On SIGUSR2 its wall clock jumps by CLOCK_JUMP milliseconds, as if the host clock had been set;
// the monotonic clock is not changed. With CLOCK_AHEAD the wall clock starts that many milliseconds ahead.
const RealDate = Date;
let offset = Number(process.env['CLOCK_AHEAD'] ?? 0);
const now = () => RealDate.now() + offset;

globalThis.Date = new Proxy(RealDate, {
  get: (date, property) => (property === 'now' ? now : Reflect.get(date, property)),
  construct: (date, args, self) => Reflect.construct(date, args.length === 0 ? [now()] : args, self),
});

process.on('SIGUSR2', () => {
  offset += Number(process.env['CLOCK_JUMP']);
});
