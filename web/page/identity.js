// Who the buyer is: a token handed over in the address, or the shop's cookie.
import * as clock from "./clock.js";
import { $, data } from "./data.js";
import { call } from "./http.js";
import { keep, recall } from "./store.js";

const name = "doorbuster.token";

function take_from_address() {
  const [, given] = location.hash.split("#token=");
  if (!given) return;
  history.replaceState(null, "", location.pathname + location.search);
  keep(name, given);
  return true;
}
take_from_address();
addEventListener("hashchange", () => take_from_address() && location.reload());

function claims_of(token) {
  try {
    const text = atob(token.split(".")[1].replace(/-/g, "+").replace(/_/g, "/"));
    return JSON.parse(new TextDecoder().decode(Uint8Array.from(text, (c) => c.charCodeAt(0))));
  } catch {
    return {};
  }
}

export function token() {
  const kept = recall(name);
  return kept && clock.now() >= claims_of(kept).exp * 1000 ? forget_token() : kept;
}
export const forget_token = () => keep(name);
export const buyer = () => claims_of(token()).sub || "cookie";
// A cookie may say who it is: only the server knows.
export const may_be_known = () => token() || !data.dev;

export function on_demo_sign_in(done) {
  $("sign-in").onsubmit = async (event) => {
    event.preventDefault();
    const { code, body } = await call("/dev/sign-in", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ buyer: $("name").value }),
    });
    if (code) return;
    keep(name, body.token);
    done();
  };
}
