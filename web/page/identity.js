// Who the buyer is: a token handed over in the address, or the shop's cookie.
import * as clock from "./clock.js";
import { $, data } from "./data.js";
import { keep, recall } from "./store.js";

const name = "doorbuster.token";
const in_address = /^#token=([^&]+)/;

function take_from_address() {
  const found = in_address.exec(location.hash);
  if (!found) return false;
  history.replaceState(null, "", location.pathname + location.search);
  keep(name, decodeURIComponent(found[1]));
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
  if (!kept) return null;
  const { exp } = claims_of(kept);
  if (clock.is_set() && exp * 1000 <= clock.now()) return forget_token();
  return kept;
}
export function forget_token() {
  keep(name, null);
  return null;
}
export const buyer = () => claims_of(token() || "").sub || "cookie";
// A cookie may say who it is: only the server knows.
export const may_be_known = () => !!token() || !data.dev;

export function on_demo_sign_in(done) {
  $("sign-in").onsubmit = async (event) => {
    event.preventDefault();
    const name_given = new FormData(event.target).get("buyer").trim();
    const reply = await fetch("/dev/sign-in", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ buyer: name_given }),
    }).catch(() => ({}));
    if (!reply.ok) return;
    keep(name, (await reply.json()).token);
    done();
  };
}
