// Loaded into a process before anything else. Whenever it is sent SIGUSR2, its clock jumps by CLOCK_JUMP milliseconds, as
// if somebody had set the clock of its host; what measures durations goes on as before, as it does on such a host. With
// CLOCK_AHEAD its clock is that many milliseconds ahead from the start.
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
