// Calls that never throw: every answer has a code, "" where it is good, and those that will pass
// are asked again.
import { data } from "./data.js";

const patience_ms = 10000;
const wait_ms_max = 8000;

// What says nothing about the matter itself: the same question may be asked again.
export const will_pass = ({ code }) =>
  /^(network|unknown|overloaded|crowded|rate_limited|rebuilding|unavailable|internal|timeout)$/.test(code);

export async function call(path, options) {
  try {
    // Browsers of before 2022 wait as long as they do by themselves.
    const signal = AbortSignal.timeout && AbortSignal.timeout(patience_ms);
    return await answer_of(await fetch(data.api + path, { ...options, signal }));
  } catch {
    return { code: "network", body: {}, wait_ms: 0 };
  }
}

async function answer_of(reply) {
  // A proxy's own page is no JSON: its status is all there is to know.
  const body = await reply.json().catch(() => ({}));
  return {
    code: reply.ok ? "" : body.code || (reply.status > 499 || reply.status == 429 ? "unavailable" : "refused"),
    body,
    wait_ms: 1000 * (reply.headers.get("Retry-After") || 0),
  };
}

export const jittered = (ms) => ms * (1 + Math.random() / 2);

// An event, too, ends it.
export const pause = (ms, event) =>
  new Promise((done) => {
    setTimeout(done, ms);
    if (event) addEventListener(event, done, { once: true });
  });

// Never sooner than Retry-After, longer each time up to a bound, and never in step with others. A
// network that is back ends the wait for it.
export const pause_after = ({ code, wait_ms }, attempt) =>
  pause(jittered(Math.max(wait_ms, Math.min(600 * 2 ** attempt, wait_ms_max))), code == "network" && "online");

// Asks until the answer is one that stays.
export async function persist(question, on_wait) {
  for (let attempt = 0; ; ++attempt) {
    const answer = await question();
    if (!will_pass(answer)) return answer;
    if (on_wait) on_wait(answer);
    await pause_after(answer, attempt);
  }
}
