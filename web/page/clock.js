// The server's clock. The device's own is never asked what time it is: only whether it slept.
import { call, persist } from "./http.js";

let offset_ms, slept_base_ms;
export let error_ms;  // undefined until the clock is set

// Not a number until then: no comparison with it holds.
export const now = () => performance.now() + offset_ms;

const beside = () => Date.now() - performance.now();
// performance.now() stands still while some devices sleep.
export const has_slept = () => Math.abs(beside() - slept_base_ms) > 1000;

// The sample with the shortest way there and back is the best; half of that is what it may be off.
export async function set_clock(samples, on_wait) {
  let best_ms = Infinity;
  while (samples-- > 0) {
    let asked_at;
    const answer = await persist(() => {
      asked_at = performance.now();
      return call("/v1/time");
    }, on_wait);
    const heard_at = performance.now();
    const way_ms = heard_at - asked_at;
    if (answer.code || way_ms >= best_ms) continue;
    best_ms = way_ms;
    offset_ms = answer.body.now_ms - (asked_at + heard_at) / 2;
    error_ms = Math.ceil(way_ms / 2) || 1;
    slept_base_ms = beside();
  }
}
