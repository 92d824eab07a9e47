const WINDOW_MS = 8000;
/** A shorter span says little about the speed. */
const MIN_SPAN_MS = 500;

/** Measures bytes per second over the last seconds. */
export class Speed {
  #samples: { at: number; sent: number }[] = [];

  /** Returns the speed, or null while too little is known. */
  note(sent: number, at: number): number | null {
    const last = this.#samples.at(-1);
    // A part that failed is sent again.
    if (last !== undefined && sent < last.sent) this.#samples = [];
    this.#samples.push({ at, sent });
    this.#samples = this.#samples.filter((sample) => at - sample.at <= WINDOW_MS);
    const first = this.#samples[0];
    if (first === undefined || at - first.at < MIN_SPAN_MS) return null;
    return ((sent - first.sent) / (at - first.at)) * 1000;
  }
}
