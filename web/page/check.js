// The human check: what a challenge asks, answered by a worker or by the buyer.
import { ask } from "./api.js";
import { persist } from "./http.js";

// The number that the proof of work is after.
function solve(challenge) {
  return new Promise((done) => {
    const worker = new Worker(URL.createObjectURL(new Blob([POW_WORKER])));
    // It says one number, or nothing where it may not run.
    worker.onmessage = worker.onerror = ({ data = -1 }) => {
      worker.terminate();
      done(data);
    };
    worker.postMessage(challenge);
  });
}

async function proof_of(check) {
  const { algorithm, challenge, salt, signature } = check;
  const number = await solve(check);
  return { challenge: check.id, answer: btoa(JSON.stringify({ algorithm, challenge, number, salt, signature })) };
}

// Answers {token, until_ms}, {is_waived} where this buyer is asked for none, or the refusal.
// on_image gets a picture and answers what was typed; "" asks for another, null for none.
export async function pass_check(sale, item, on_image, on_wait) {
  const path = `/v1/sales/${sale}/`;
  let failures = 0;
  for (;;) {
    const asked = await persist(() => ask(path + "challenges", null), on_wait);
    if (asked.code == "wrong_state") return { is_waived: true };
    if (asked.code) return asked;

    const check = asked.body;
    let answer;
    if (check.kind == "image") {
      const typed = await on_image(check, failures);
      if (typed === "") continue;
      answer = typed ? { challenge: check.id, answer: typed } : await proof_of(check.pow);
    } else {
      answer = await proof_of(check);
    }
    const given = await persist(() => ask(path + "tokens", { item, ...answer }), on_wait);
    if (!given.code) return { token: given.body.token, until_ms: given.body.expires_at_ms };
    // A lost answer may have burned the check: a new one tells.
    if (given.code != "check_failed" || ++failures > 2) return given;
  }
}
