// Questions to the server: anybody's, and this buyer's own.
import { data } from "./data.js";
import { call, persist } from "./http.js";
import { forget_token, token } from "./identity.js";

// Without a header of its own a question to another origin needs no preflight.
export const look = call;

export function buyer_headers() {
  const mine = token();
  return { "Accept-Language": document.documentElement.lang, ...(mine && { Authorization: "Bearer " + mine }) };
}

// A POST where there is a body; null: one that is empty.
export async function ask(path, body, headers) {
  const answer = await call(path, {
    credentials: "include",
    method: body === undefined ? "GET" : "POST",
    body: body && JSON.stringify(body),
    headers: { ...buyer_headers(), ...(body && { "Content-Type": "application/json" }), ...headers },
  });
  if (answer.code == "unauthenticated") forget_token();
  return answer;
}

// A browser asks another origin for leave before it sends a purchase there, and remembers it for this
// address: asked early, the press is one request.
export const ask_leave = (path) =>
  data.api && call(path, { method: "HEAD", credentials: "include", headers: { "Content-Type": "application/json" } });

// Goes to the payment page; where it cannot, says why.
export async function pay(order, on_wait) {
  const answer = await persist(async () => {
    const begun = await ask(`/v1/orders/${order}/payments`, null);
    // The provider has not said yet where.
    return begun.code || begun.body.payment_url ? begun : { ...begun, code: "unknown" };
  }, on_wait);
  if (!answer.code) location.assign(answer.body.payment_url);
  return answer;
}
export const cancel = (order) => persist(() => ask(`/v1/orders/${order}/cancel`, null));

export const link = (kind, sale) => data.links[kind].replace("{sale}", sale);
