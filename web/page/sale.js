// The sale page: what happens, and what follows. How it looks is in sale_view.js.
import { ask, ask_leave, cancel, look, pay } from "./api.js";
import { pass_check } from "./check.js";
import * as clock from "./clock.js";
import { $, data } from "./data.js";
import { follow } from "./follow.js";
import { jittered, pause, pause_after, persist, will_pass } from "./http.js";
import * as identity from "./identity.js";
import { forget_milestone, show_goods, show_state, show_time } from "./sale_view.js";
import * as shell from "./shell.js";
import { is_lit, is_warm, state_of, warms_at } from "./states.js";
import { keep, recall } from "./store.js";
import * as words from "./words.js";

const grace_ms = 5000;  // in which "give it back" can be taken back
const check_spread_ms_max = 60000;
const look_ms_max = 120000;
const limit_ms_max = 30000;
const { id } = data.sale;
const path = "/v1/sales/" + id;
const start_jitter_ms = Math.random() * (data.sale.start_jitter_ms || 0);

const model = {
  item: data.sale.items[0],
  quantity: 1,
  cool_until: 0,
  is_cooling: () => performance.now() < model.cool_until,
};

// What this browser remembers of this buyer in this sale.
const record_name = () => `doorbuster.purchase.${id}.${identity.buyer()}`;
const check_name = () => `doorbuster.check.${id}.${identity.buyer()}.${model.item.id}`;

let shown_state, timer;

function update() {
  const state = state_of(model, clock.now());
  if (state != shown_state) forget_milestone();
  shown_state = state;
  show_state(state, model);
  tick();
}
// At every whole second of the countdown, and so at its very end.
function tick() {
  clearTimeout(timer);
  if (state_of(model, clock.now()) != shown_state) return update();
  const left_ms = show_time(shown_state, model);
  timer = setTimeout(tick, left_ms > 0 ? left_ms % 1000 : 1000);
}
// setTimeout cannot count further than 24 days.
const later = (ms, act) => setTimeout(act, Math.min(ms, 2 ** 31 - 1));

function set_sale(sale) {
  const is_news = JSON.stringify(sale) != JSON.stringify(model.sale);
  model.sale = sale;
  model.item = sale.items.find((item) => item.id == model.item.id) || sale.items[0];
  model.lights_at_ms = sale.opens_at_ms + start_jitter_ms;
  const { stop } = model;
  if (stop && stop.state == "paused") model.stop = null;
  if (/paused|sold_out/.test(sale.state) && !model.press && !model.purchase) {
    if (stop && stop.state == sale.state) model.stop = stop;
    else stop_at(sale.state);
  }
  if (is_news) show_goods(model, choose);
}

async function refresh() {
  const { code, body } = await look(path);
  if (!code) set_sale(body);
  update();
}

function choose(item) {
  model.item = item;
  model.note = "";
  set_quantity();
  if (model.stop && model.stop.state != "paused") model.stop = null;
  get_checked();
}

function set_quantity() {
  const wanted = Math.min(Math.floor($("quantity").value), model.item.units_per_buyer_max);
  model.quantity = $("quantity").value = Math.max(1, wanted || 1);
  update();
}

// The check

let check_run = 0;

// Passes the check for the chosen item, unless that is done; where it is too soon, later.
// Answers whether the buyer may press.
async function get_checked() {
  const run = ++check_run;
  const again = (ms) => later(ms, () => run == check_run && get_checked());
  const kept = recall(check_name());
  model.check = kept && kept.until_ms > clock.now() + 10000 ? kept : null;
  model.image = model.is_checking = null;
  update();
  const { sale } = model;
  if (model.check || (sale.human_check == "none" && !model.must_check)) return true;
  if (!is_warm(sale, clock.now())) {
    // Everybody waits for this moment: they come one after the other.
    const spread_ms = Math.min(check_spread_ms_max, 500 * sale.warm_before_s);
    again(warms_at(sale) - clock.now() + Math.random() * spread_ms);
    return;
  }
  model.is_checking = true;
  update();
  const passed = await pass_check(id, model.item.id, ask_picture, on_wait);
  if (run != check_run) return;
  on_answer();
  model.image = model.is_checking = null;
  const { code } = passed;
  if (!code) model.check = passed;
  else if (code == "unauthenticated") model.is_unknown = true;
  else if (code == "not_open") {
    // Put off, or not ready in time: with the time comes how it stands.
    await set_clock(1);
    again(is_warm(model.sale, clock.now()) ? jittered(4000) : 0);
  }
  else if (code == "ended") set_sale({ ...sale, state: "closed" });
  else stop_at(code == "check_failed" ? "check_refused" : "refused", passed);
  if (passed.token) keep(check_name(), passed);
  update();
  return !code;
}

function ask_picture(check, failures) {
  return new Promise((answer) => {
    model.image = check;
    model.note = failures && "wrong_answer";
    $("picture").src = check.image;
    $("answer").value = "";
    update();
    if (failures) $("answer").focus();
    const give = (text) => {
      model.note = "";
      if (text === null) model.image = null;
      update();
      answer(text);
    };
    $("captcha").onsubmit = (event) => {
      event.preventDefault();
      give($("answer").value);
    };
    $("other-picture").onclick = () => give("");
    $("no-picture").onclick = () => give(null);
  });
}

// The press

function press() {
  if (state_of(model, clock.now()) != "open" || model.is_cooling()) return;
  model.cool_until = performance.now() + data.cooldown_ms;
  later(data.cooldown_ms + 1, update);
  const { item, quantity } = model;
  const other = recall(record_name());
  // Another tab that has pressed already asks for the same purchase.
  const is_same = other && !other.id && other.item == item.id && other.quantity == quantity;
  send(is_same ? other : new_record(item.id, quantity));
}

// What names a purchase: the token that the check has earned, or a key.
function new_record(item, quantity) {
  const { token } = model.check || {};
  return { ...(token ? { token } : { key: crypto.getRandomValues(new Uint32Array(4)).join("-") }), item, quantity };
}

// Asks for the units until there is an answer that stays. It is one purchase, however often it asks.
async function send(record) {
  model.is_back = model.note = "";
  model.press = { state: "sending" };
  for (let attempt = 0, checks = 0; ; ++attempt) {
    keep(record_name(), record);
    update();
    const { key, ...wanted } = record;
    const answer = await ask(path + "/purchases", wanted, key && { "Idempotency-Key": key });
    const { code, body } = answer;
    if (code == "not_open") await refresh();
    if (will_pass(answer) || (code == "not_open" && is_lit(model, clock.now()))) {
      model.press = { state: navigator.onLine ? "repeating" : "offline", code };
      update();
      await pause_after(answer, attempt);
      continue;
    }
    model.press = null;
    if (!code) {
      keep(record_name(), { ...record, ...body });
      keep(check_name());
      // Another tab may have told of it already, and of more.
      return (model.purchase || {}).id == body.id ? update() : follow_purchase(body);
    }
    if (code == "unauthenticated") {
      model.is_unknown = true;
      return update();
    }
    // A refusal binds nothing.
    keep(record_name());
    if (/^token_/.test(code)) {
      keep(check_name());
      model.must_check = true;
      if (++checks < 3) {
        if (!(await get_checked())) return;
        model.press = { state: "sending" };
        record = new_record(record.item, record.quantity);
        continue;
      }
    }
    if (code == "ended") set_sale({ ...model.sale, state: "closed" });
    else if (/^(sold_out|paused|limit)/.test(code)) stop_at(code, answer);
    else if (code != "not_open") stop_at(/^token_/.test(code) ? "check_refused" : "refused", answer);
    return update();
  }
}

// What stands in the way, until it does not.
async function stop_at(state, answer) {
  const { sold_out_at_ms } = model.sale;
  const now_ms = clock.now();
  // When the last unit went is known to who was there while there was one.
  const stop = { state, title: answer && answer.body.title, at_ms: sold_out_at_ms || (model.was_there && now_ms) };
  model.stop = stop;
  // The order that holds the right may still be about to be written.
  for (let ms = 500; state == "limit_reached" && ms < limit_ms_max; ms *= 1.5) {
    const { code, body } = await persist(() => ask("/v1/purchases/" + answer.body.purchase));
    if (code || model.stop != stop) return;
    const left = model.item.units_per_buyer_max - body.quantity;
    if (left > 0 && model.quantity > 1) {
      model.stop = null;
      model.note = "too_many";
      $("quantity").value = Math.min(left, model.quantity - 1);
      return set_quantity();
    }
    stop.order = body.order;
    update();
    if (stop.order) return;
    await pause(jittered(ms));
  }
  // Looks gently whether it is over: in the beginning every few seconds, then less often.
  for (let ms = 1500; /sold_out|paused/.test(state); ms = Math.min(ms * 1.4, 15000)) {
    await pause(jittered(ms));
    if (model.stop != stop) return;
    if (document.hidden || model.is_offline) continue;
    if (state == "paused") {
      await refresh();
    } else if (state == "sold_out_for_now" ? clock.now() - now_ms > 8000 : await find_units()) {
      if (model.stop != stop) return;
      model.stop = null;
      model.is_back = true;
      return get_checked();
    }
  }
}

// Where fewer are left than were wanted, those.
async function find_units() {
  const { code, body } = await look(path + "/stock");
  if (code) return 0;
  const { units_available } = body.items.find((item) => item.id == model.item.id);
  if (units_available) $("quantity").value = Math.min(model.quantity, units_available);
  set_quantity();
  return units_available;
}

// The purchase

let stop_following;

function follow_purchase(purchase) {
  if (stop_following) stop_following();
  keep_order();
  model.purchase = purchase;
  model.stop = null;
  update();
  stop_following = follow(
    purchase.id,
    (news) => {
      model.purchase = news;
      on_answer();
      update();
    },
    ({ code }) => {
      model.purchase = null;
      // The server knows of no such purchase: neither do we.
      if (code == "not_found") keep(record_name());
      enter();
    },
  );
}

async function pay_order() {
  model.is_busy = true;
  model.note = model.fault = "";
  update();
  const { code, body } = await pay(model.purchase.order.id, () => {
    model.note = "s_unanswered";
    update();
  });
  model.note = "";
  if (code) model.fault = body.title || code;
  // The browser is on its way to the payment page.
  else await pause(3000);
  model.is_busy = false;
  update();
}

let grace_timer;

// One press gives it back, but not at once: a slip can be taken back.
function cancel_order() {
  const { is_giving_back } = model;
  keep_order();
  if (!is_giving_back) {
    model.is_giving_back = true;
    model.note = "giving_back";
    grace_timer = setTimeout(give_back, grace_ms, model.purchase);
  }
  update();
}
// What is shown by then may be another purchase: it is the one that was pressed for.
async function give_back(purchase) {
  model.is_busy = true;
  update();
  await cancel(purchase.order.id);
  model.is_busy = false;
  if (model.purchase && model.purchase.id == purchase.id) follow_purchase(model.purchase);
}
function keep_order() {
  clearTimeout(grace_timer);
  model.is_giving_back = model.note = model.fault = "";
}

function begin_again() {
  if (model.purchase) {
    keep(record_name());
    stop_following();
    keep_order();
  }
  model.purchase = model.stop = null;
  get_checked();
}

// The way in

function set_offline(is_offline) {
  if (model.is_offline == is_offline) return;
  model.is_offline = is_offline;
  update();
}
const on_wait = ({ code }) => set_offline(code == "network");
const on_answer = () => set_offline(!navigator.onLine);

// What this buyer has here already, or what comes first.
async function enter() {
  model.is_unknown = !identity.may_be_known();
  if (model.is_unknown) return update();
  const record = recall(record_name());
  if (record) return record.id ? follow_purchase(record) : send(record);
  if (model.sale.human_check == "none" && !identity.token() && is_warm(model.sale, clock.now())) {
    // No check will say whether the shop's cookie is there.
    const { code } = await ask("/v1/orders?limit=1");
    model.is_unknown = code == "unauthenticated";
  }
  get_checked();
}

async function set_clock(samples) {
  await clock.set_clock(samples, on_wait, (news) => set_sale({ ...model.sale, ...news }));
  const { state, items } = model.sale;
  if (state != "sold_out") model.was_there = items.length < 2;
  on_answer();
  update();
}

// The last sample is taken shortly before the start, when the first ones are old and the operator may
// have moved it, by each page at a moment of its own. Together with the check that makes five requests.
function look_before_start() {
  const before_ms = Math.min(1000 * model.sale.warm_before_s, look_ms_max);
  const wait_ms = model.sale.opens_at_ms - clock.now() - before_ms * (0.1 + Math.random() / 2);
  later(Math.max(0, wait_ms), async () => {
    await set_clock(1);
    ask_leave(path + "/purchases");
    if (model.sale.opens_at_ms - clock.now() > before_ms) look_before_start();
  });
}

async function begin() {
  shell.begin({ ...words.shell, ...words.sale }, () => {
    show_goods(model, choose);
    update();
  });
  $("buy").onclick = press;
  $("pay").onclick = pay_order;
  $("cancel").onclick = cancel_order;
  $("again").onclick = begin_again;
  $("quantity").onchange = () => {
    model.note = "";
    set_quantity();
  };
  identity.on_demo_sign_in(() => {
    shell.signed_in();
    enter();
  });
  addEventListener("online", on_answer);
  addEventListener("offline", on_answer);
  addEventListener("storage", ({ key }) => {
    const other = key == record_name() && recall(key);
    if (other && other.id && (model.purchase || {}).id != other.id) enter();
  });
  // Back from the payment page: what was kept in memory is of before.
  addEventListener("pageshow", (event) => event.persisted && location.reload());
  addEventListener("visibilitychange", () => {
    if (clock.has_slept()) set_clock(2);
    tick();
  });

  model.is_unknown = !identity.may_be_known();
  set_sale(data.sale);
  on_answer();
  update();
  // What was pressed before is known before the button can be pressed again.
  if (recall(record_name())) enter();
  await set_clock(2);
  look_before_start();
  if (!model.press && !model.purchase) enter();
}

begin();
