// The sale page: what happens, and what follows. How it looks is in sale_view.js.
import { ask, cancel, look, pay } from "./api.js";
import { pass_check } from "./check.js";
import * as clock from "./clock.js";
import { $, data } from "./data.js";
import { follow } from "./follow.js";
import { jittered, pause, pause_after, will_pass } from "./http.js";
import * as identity from "./identity.js";
import { forget_milestone, show_goods, show_state, show_time } from "./sale_view.js";
import * as shell from "./shell.js";
import { has_opened, is_warm, state_of, warms_at } from "./states.js";
import { keep, recall } from "./store.js";
import * as en from "./words_en.js";
import * as hans from "./words_zh_hans.js";
import * as hant from "./words_zh_hant.js";

// Spelled out, so that the bundle has only the words of this page.
const words = [
  { ...en.shell, ...en.sale },
  { ...hans.shell, ...hans.sale },
  { ...hant.shell, ...hant.sale },
];

const grace_ms = 5000;  // in which "give it back" can be taken back
const check_spread_ms_max = 60000;
const path = "/v1/sales/" + data.sale.id;
const start_jitter_ms = Math.random() * (data.sale.start_jitter_ms || 0);

const model = {
  sale: data.sale,
  item: data.sale.items[0],
  quantity: 1,
  lights_at_ms: 0,
  cool_until: 0,
  is_lit: () => has_opened(model.sale) || clock.now() >= model.lights_at_ms,
  is_cooling: () => performance.now() < model.cool_until,
};

// What this browser remembers of this buyer in this sale.
const record_name = () => `doorbuster.purchase.${data.sale.id}.${identity.buyer()}`;
const check_name = () => `doorbuster.check.${data.sale.id}.${identity.buyer()}.${model.item.id}`;

let shown_state, timer;
const state_now = () => state_of(model, clock.is_set() ? clock.now() : -Infinity);

function update() {
  clearTimeout(timer);
  const state = state_now();
  if (state != shown_state) forget_milestone();
  shown_state = state;
  show_state(state, model);
  plan_tick(show_time(state, model));
}
function tick() {
  if (state_now() != shown_state) return update();
  plan_tick(show_time(shown_state, model));
}
// At every whole second of the countdown, and so at its very end.
function plan_tick(left_ms) {
  clearTimeout(timer);
  if (clock.is_set()) timer = setTimeout(tick, left_ms > 0 ? left_ms % 1000 || 1000 : 1000);
}

function set_sale(sale) {
  model.sale = sale;
  model.item = sale.items.find((item) => item.id == model.item.id) || sale.items[0];
  model.lights_at_ms = has_opened(sale) ? 0 : sale.opens_at_ms + start_jitter_ms;
  show_goods(model, choose);
}

function choose(item) {
  model.item = item;
  model.quantity = Math.min(model.quantity, item.units_per_buyer_max);
  if (model.stop) model.stop = null;
  show_goods(model, choose);
  get_checked();
  update();
}

// The check

let check_run = 0;

// Passes the check for the chosen item, unless that is done; where it is too soon, later.
async function get_checked() {
  const run = ++check_run;
  model.image = null;
  model.is_checking = false;
  const kept = recall(check_name());
  model.check = kept && kept.until_ms > clock.now() + 10000 ? kept : null;
  if (model.sale.human_check == "none" && !model.must_check) return true;
  if (model.check) return true;
  const is_mine = () => run == check_run;
  if (!is_warm(model.sale, clock.now())) {
    // Everybody waits for this moment: they come one after the other.
    const spread_ms = Math.min(check_spread_ms_max, 500 * model.sale.warm_before_s) * Math.random();
    later(warms_at(model.sale) - clock.now() + spread_ms, () => is_mine() && get_checked());
    return false;
  }
  model.is_checking = true;
  update();
  const passed = await pass_check(data.sale.id, model.item.id, ask_picture, on_wait);
  if (!is_mine()) return false;
  heard();
  model.image = null;
  model.is_checking = false;
  if (passed.token || passed.is_waived) {
    model.check = passed;
    if (passed.token) keep(check_name(), passed);
  } else if (passed.code == "unauthenticated") {
    model.is_unknown = true;
  } else if (passed.code == "not_open") {
    later(jittered(4000), () => is_mine() && get_checked());
  } else if (passed.code == "ended") {
    set_sale({ ...model.sale, state: "closed" });
  } else {
    stop_at(passed.code == "check_failed" ? "check_refused" : "refused", passed);
  }
  update();
  return !!model.check;
}
// setTimeout cannot count further than 24 days.
const later = (ms, act) => setTimeout(act, Math.min(ms, 2 ** 31 - 1));

function ask_picture(check, failures) {
  return new Promise((answer) => {
    const is_first = !model.image;
    model.image = check;
    model.note = failures ? "wrong_answer" : "";
    $("picture").src = check.image;
    $("answer").value = "";
    const give = (text) => {
      model.note = "";
      answer(text);
    };
    $("captcha").onsubmit = (event) => {
      event.preventDefault();
      give($("answer").value.trim());
    };
    $("other-picture").onclick = () => give("");
    $("no-picture").onclick = () => {
      model.image = null;
      update();
      give(null);
    };
    update();
    if (!is_first) $("answer").focus();
  });
}

// The press

async function press() {
  if (state_now() != "open" || model.is_cooling()) return;
  cool_down();
  const waiting = recall(record_name());
  const { item, quantity } = model;
  const same = waiting && !waiting.id && waiting.item == item.id && waiting.quantity == quantity;
  const name = model.check && model.check.token ? { token: model.check.token } : { key: random_key() };
  // Another tab that has pressed already asks for the same purchase.
  send(same ? waiting : { ...name, item: item.id, quantity });
}

function cool_down() {
  model.cool_until = performance.now() + data.cooldown_ms;
  later(data.cooldown_ms + 1, update);
}

const random_key = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");

// Asks for the units until there is an answer that stays. It is one purchase, however often it asks.
async function send(record) {
  keep(record_name(), record);
  model.is_back = false;
  model.press = { state: "sending" };
  update();
  for (let attempt = 0, checks = 0; ; ++attempt) {
    const { key, ...wanted } = record;
    const answer = await ask(path + "/purchases", wanted, key && { "Idempotency-Key": key });
    const { code } = answer;
    if (!code) {
      keep(record_name(), { ...record, id: answer.body.id });
      keep(check_name(), null);
      model.press = null;
      return follow_purchase(answer.body);
    }
    if (will_pass(answer) || (code == "not_open" && !(await is_postponed()))) {
      model.press = { state: navigator.onLine ? "repeating" : "offline", code };
      update();
      await pause_after(answer, attempt);
      continue;
    }
    model.press = null;
    if (/^token_/.test(code) && ++checks < 3) {
      keep(check_name(), null);
      model.must_check = true;
      if (await get_checked()) {
        record = { item: record.item, quantity: record.quantity, token: model.check.token };
        keep(record_name(), record);
        model.press = { state: "sending" };
        update();
        continue;
      }
      return;
    }
    if (code == "unauthenticated") {
      model.is_unknown = true;
      return update();
    }
    // A refusal binds nothing.
    keep(record_name(), null);
    if (code == "ended") set_sale({ ...model.sale, state: "closed" });
    else if (/^(sold_out|sold_out_for_now|paused|limit_reached)$/.test(code)) stop_at(code, answer);
    else if (code != "not_open") stop_at(/^token_/.test(code) ? "check_refused" : "refused", answer);
    return update();
  }
}

// Not open although its time has come: it was put off, or it opens any moment.
async function is_postponed() {
  const answer = await look(path);
  if (!answer.code) set_sale(answer.body);
  return !model.is_lit();
}

// What stands in the way, until it does not.
function stop_at(state, answer) {
  model.stop = { state, title: answer && answer.body.title, at_ms: clock.is_set() ? clock.now() : 0 };
  if (state == "limit_reached") find_holder(model.stop, answer.body.purchase);
  if (/sold_out|paused/.test(state)) watch(model.stop);
}

async function find_holder(stop, purchase) {
  const answer = await ask("/v1/purchases/" + purchase);
  stop.order = answer.body.order;
  update();
}

// Looks gently whether it is over: in the beginning every few seconds, then less often.
async function watch(stop) {
  for (let ms = 1500; ; ms = Math.min(ms * 1.4, 15000)) {
    await pause(jittered(ms));
    if (document.hidden) await new Promise((done) => addEventListener("visibilitychange", done, { once: true }));
    if (model.stop != stop) return;
    if (await has_passed(stop)) break;
    if (model.stop != stop) return;
  }
  if (model.stop != stop) return;
  model.stop = null;
  model.is_back = /sold_out/.test(stop.state);
  get_checked();
  update();
}

async function has_passed({ state, at_ms }) {
  // Whether an order may be made again, nobody but the book can say.
  if (state == "sold_out_for_now") return clock.now() - at_ms > 8000;
  if (state == "paused") {
    const { code, body } = await look(path);
    if (code) return false;
    set_sale(body);
    if (body.state == "sold_out") stop_at("sold_out");
    update();
    return body.state != "paused";
  }
  const { code, body } = await look(path + "/stock");
  const stock = !code && body.items.find((item) => item.id == model.item.id);
  return stock && stock.units_available > 0;
}

// The purchase

let stop_following = () => {};

function follow_purchase(purchase) {
  stop_following();
  model.purchase = purchase;
  model.stop = null;
  update();
  stop_following = follow(
    purchase.id,
    (news) => {
      model.purchase = news;
      model.item = model.sale.items.find((item) => item.id == news.item) || model.item;
      heard();
      update();
    },
    (answer) => {
      model.purchase = null;
      // The server knows of no such purchase: neither do we.
      if (answer.code == "not_found") keep(record_name(), null);
      else model.is_unknown = true;
      enter();
    },
  );
}

async function pay_order() {
  model.is_paying = true;
  update();
  const answer = await pay(model.purchase.order.id);
  if (!answer.code) await pause(3000);
  model.is_paying = false;
  update();
}

let grace_timer;

// One press gives it back, but not at once: a slip can be taken back.
function cancel_order() {
  clearTimeout(grace_timer);
  model.is_giving_back = !model.is_giving_back;
  model.note = model.is_giving_back ? "giving_back" : "";
  if (model.is_giving_back) grace_timer = setTimeout(give_back, grace_ms);
  update();
}
async function give_back() {
  const { id } = model.purchase.order;
  const answer = await cancel(id);
  model.is_giving_back = false;
  model.note = "";
  if (!answer.code && model.purchase.order.id == id) model.purchase = { ...model.purchase, order: answer.body };
  update();
}

function begin_again() {
  if (model.purchase) keep(record_name(), null);
  stop_following();
  model.purchase = model.stop = null;
  get_checked();
  update();
}

// The way in

function on_wait() {
  set_offline(true);
}
const heard = () => set_offline(!navigator.onLine);

function set_offline(is_offline) {
  if (model.is_offline == is_offline) return;
  model.is_offline = is_offline;
  update();
}

// What this buyer has here already, or what comes first.
async function enter() {
  model.is_unknown = !identity.may_be_known();
  update();
  if (model.is_unknown) return;
  const record = recall(record_name());
  if (record && record.id) return follow_purchase({ sequence: 0, ...record, status: "accepted" });
  if (record) return send(record);
  if (model.sale.human_check == "none" && !identity.token() && is_warm(model.sale, clock.now())) {
    // No check will say whether the shop's cookie is there.
    const { code } = await ask("/v1/orders?limit=1");
    if (code == "unauthenticated") model.is_unknown = true;
  }
  if (/paused|sold_out/.test(model.sale.state)) stop_at(model.sale.state);
  if (!model.is_unknown) get_checked();
  update();
}

async function set_clock() {
  await clock.set_clock(3, on_wait);
  heard();
  update();
}

async function begin() {
  shell.begin(words, () => {
    show_goods(model, choose);
    update();
  });
  $("buy").onclick = press;
  $("pay").onclick = pay_order;
  $("cancel").onclick = cancel_order;
  $("again").onclick = begin_again;
  $("quantity").onchange = (event) => {
    const { units_per_buyer_max: limit } = model.item;
    model.quantity = event.target.value = Math.max(1, Math.min(Math.floor(event.target.value) || 1, limit));
    update();
  };
  identity.on_demo_sign_in(() => {
    shell.signed_in();
    enter();
  });
  addEventListener("online", heard);
  addEventListener("offline", heard);
  addEventListener("storage", (event) => {
    const other = event.key == record_name() && recall(event.key);
    if (other && other.id && !(model.purchase && model.purchase.id == other.id)) enter();
  });
  addEventListener("pageshow", (event) => event.persisted && location.reload());
  document.addEventListener("visibilitychange", () => {
    if (clock.has_slept()) set_clock();
    tick();
  });

  model.is_offline = !navigator.onLine;
  model.is_unknown = !identity.may_be_known();
  set_sale(data.sale);
  update();
  await set_clock();
  const is_stale = !has_opened(model.sale) && model.is_lit();
  enter();
  if (is_stale) {
    const { code, body } = await look(path);
    if (code) return;
    set_sale(body);
    if (/paused|sold_out/.test(body.state) && state_now() == "open") stop_at(body.state);
    update();
  }
}

begin();
