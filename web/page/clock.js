// The server's clock. The device's own is never asked what time it is: only whether it slept.
import { data } from "./data.js";
import { call, persist } from "./http.js";

const drift = 1e-4;  // of a device's clock, at most
const path = "/v1/time" + (data.sale ? "?sale=" + data.sale.id : "");

let offset_ms, set_at, slept_base_ms;
export let error_ms;  // undefined until the clock is set

// Not a number until then: no comparison with it holds.
export const now = () => performance.now() + offset_ms;

const beside = () => Date.now() - performance.now();
// performance.now() stands still while some devices sleep.
export const has_slept = () => Math.abs(beside() - slept_base_ms) > 1000;

// The sample with the shortest way there and back is the best; half of that is what it may be off,
// and more the older it gets. on_sale hears how the sale stands.
export async function set_clock(samples, on_wait, on_sale) {
  while (samples-- > 0) {
    let asked_at;
    const { code, body } = await persist(() => {
      asked_at = performance.now();
      return call(path);
    }, on_wait);
    if (code) continue;
    const heard_at = performance.now();
    const way_ms = heard_at - asked_at;
    if (has_slept() || !(way_ms / 2 > error_ms + drift * (heard_at - set_at))) {
      offset_ms = body.now_ms - (asked_at + heard_at) / 2;
      error_ms = way_ms / 2 || 1;
      set_at = heard_at;
      slept_base_ms = beside();
    }
    if (on_sale && body.sale) on_sale(body.sale);
  }
}
