// Calls that never throw: every answer has a code, "" where it is good, and those that will pass
// are asked again.
import { data } from "./data.js";

const patience_ms = 10000;
const wait_ms_max = 8000;

// What says nothing about the matter itself: the same question may be asked again.
const passing = "network unknown overloaded crowded rate_limited rebuilding unavailable internal timeout";
export const will_pass = (answer) => passing.split(" ").includes(answer.code);

export async function call(path, options) {
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(), patience_ms);
  try {
    const reply = await fetch(data.api + path, { ...options, signal: stop.signal });
    return await answer_of(reply);
  } catch {
    return { status: 0, code: "network", body: {}, wait_ms: 0 };
  } finally {
    clearTimeout(timer);
  }
}

export async function answer_of(reply) {
  const { status } = reply;
  let body = {};
  try {
    body = await reply.json();
  } catch {
    // A proxy's own page: its status is all there is to know.
  }
  const code = reply.ok ? "" : body.code || (status > 499 || status == 429 ? "unavailable" : "refused");
  return { status, code, body, wait_ms: 1000 * (reply.headers.get("Retry-After") || 0) };
}

// Never sooner than Retry-After, longer each time up to a bound, and never in step with others.
export function wait_ms(answer, attempt) {
  return jittered(Math.max(answer.wait_ms, Math.min(600 * 2 ** attempt, wait_ms_max)));
}
export const jittered = (ms) => ms * (1 + Math.random() / 2);

export const pause = (ms) => new Promise((done) => setTimeout(done, ms));

// As pause, but a network that is back ends it.
export function pause_after(answer, attempt) {
  return new Promise((done) => {
    const timer = setTimeout(end, wait_ms(answer, attempt));
    const is_network = answer.code == "network";
    if (is_network) addEventListener("online", end, { once: true });
    function end() {
      clearTimeout(timer);
      removeEventListener("online", end);
      done();
    }
  });
}

// Asks until the answer is one that stays.
export async function persist(question, on_wait = () => {}) {
  for (let attempt = 0; ; ++attempt) {
    const answer = await question();
    if (!will_pass(answer)) return answer;
    on_wait(answer);
    await pause_after(answer, attempt);
  }
}
