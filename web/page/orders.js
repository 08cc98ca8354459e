// My orders: what is to be paid, what is paid, and what became of the rest.
import { ask, cancel, link, look, pay } from "./api.js";
import * as clock from "./clock.js";
import { $, data } from "./data.js";
import { jittered, pause, persist } from "./http.js";
import * as identity from "./identity.js";
import * as shell from "./shell.js";
import { add, countdown, day_in_list, money, put, say, tell } from "./shell.js";
import * as words from "./words.js";

const look_again_ms = 5000;
const grace_ms = 5000;  // in which "give it back" can be taken back
const main = document.querySelector("main");

let state = "loading";
let note = "";
let orders = [];
let next = null;
const sales = {};        // by id; null: not to be had
const giving_back = {};  // timers, by order

const is_payable = (order) => /^(pending_payment|paying)$/.test(order.state);
const is_moving = (order) => /ing/.test(order.state);

function set_state(to) {
  state = to;
  show();
}

function button(parent, key, values, act) {
  const made = add(parent, "button", say(key, values));
  made.type = "button";
  made.onclick = act;
  return made;
}

function show_order(order) {
  const card = add($("orders"), "li", "");
  card.id = "o" + order.id;
  card.dataset.status = order.state;
  const sale = sales[order.sale];
  const item = sale && sale.items.find((each) => each.id == order.item);
  const top = add(card, "div", "");
  top.className = "top";
  const anchor = add(add(top, "h2", ""), "a", item ? item.name : order.item);
  anchor.href = link("sale", order.sale);
  add(top, "span", say(order.state)).className = "tag";
  const { quantity, amount_minor, currency } = order;
  const each = quantity > 1 ? `${quantity} × ${money(amount_minor / quantity, currency)} = ` : "";
  add(card, "p", each + money(amount_minor, currency));
  add(card, "p", say("ordered", day_in_list(order.created_at_ms)));
  add(card, "p", say("order", order.id));
  if (!is_payable(order)) return;

  add(card, "p", "").className = "when";
  const row = add(card, "div", "");
  row.className = "row";
  if (!giving_back[order.id]) {
    button(row, "pay", money(amount_minor, currency), (event) => begin_to_pay(order, event)).className =
      "first";
  }
  button(row, giving_back[order.id] ? "keep" : "cancel", {}, () => give_back(order)).className = "second";
}

function show() {
  main.dataset.state = state;
  const words_now = {
    loading: say("moment"),
    empty: say("none"),
    offline: tell("offline").join(" "),
    sign_in: tell(data.dev ? "demo" : "sign_in").join(" "),
  };
  put($("status"), note || words_now[state] || "");
  $("sign-in").hidden = state != "sign_in" || !data.dev;
  $("more").hidden = !next;
  const focused = document.activeElement.closest("li");
  const place = focused && [focused.id, document.activeElement.className];
  $("orders").textContent = "";
  if (state != "sign_in") orders.forEach(show_order);
  tick();
  if (!place) return;
  const card = $(place[0]);
  if (card) (card.querySelector("." + place[1]) || card.querySelector("a")).focus();
}

function tick() {
  for (const order of orders) {
    const part = $("o" + order.id) && $("o" + order.id).querySelector(".when");
    if (part) put(part, say("pay_within", countdown(order.pay_by_ms - clock.now())));
  }
}

async function begin_to_pay(order, event) {
  event.target.disabled = true;
  put(event.target, say("moment"));
  settle(order, await pay(order.id));
}

// One press gives it back, but not at once: a slip can be taken back.
function give_back(order) {
  if (giving_back[order.id]) {
    clearTimeout(giving_back[order.id]);
    delete giving_back[order.id];
  } else {
    giving_back[order.id] = setTimeout(async () => {
      const answer = await cancel(order.id);
      delete giving_back[order.id];
      settle(order, answer);
    }, grace_ms);
  }
  show();
}

async function settle(order, answer) {
  note = answer.code ? say("failed", answer.body.title || answer.code) : "";
  await load();
}

const question = (before) => persist(() => ask("/v1/orders?limit=20" + (before ? "&before=" + before : "")), () => set_state("offline"));

// The newest ones again, before those that were asked for later.
async function load() {
  const answer = await question();
  if (answer.code == "unauthenticated") return set_state("sign_in");
  if (answer.code) {
    note = say("failed", answer.body.title || answer.code);
    return set_state("failed");
  }
  const fresh = answer.body.orders;
  const last = fresh[fresh.length - 1];
  const older = last ? orders.filter((order) => BigInt(order.id) < BigInt(last.id)) : [];
  if (!older.length) next = answer.body.next;
  orders = [...fresh, ...older];
  await learn_names();
  set_state(orders.length ? "orders" : "empty");
}

async function load_more() {
  const answer = await question(next);
  if (answer.code) return;
  next = answer.body.next;
  orders = [...orders, ...answer.body.orders];
  await learn_names();
  set_state("orders");
}

async function learn_names() {
  for (const id of new Set(orders.map((order) => order.sale))) {
    if (id in sales) continue;
    const { code, body } = await look("/v1/sales/" + id);
    sales[id] = code ? null : body;
  }
}

async function begin() {
  shell.begin({ ...words.shell, ...words.lists, ...words.orders }, show);
  $("more").onclick = load_more;
  identity.on_demo_sign_in(() => {
    shell.signed_in();
    load();
  });
  addEventListener("pageshow", (event) => event.persisted && location.reload());
  show();
  await clock.set_clock(1, () => set_state("offline"));
  setInterval(tick, 1000);
  if (!identity.may_be_known()) return set_state("sign_in");
  await load();
  if (location.hash) location.replace(location.hash);
  // While something may still change, it is asked for.
  for (;;) {
    await pause(jittered(look_again_ms));
    if (!document.hidden && state != "sign_in" && orders.some(is_moving)) await load();
  }
}

begin();
