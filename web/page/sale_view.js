// The sale page as it looks in each state. Reads the model, never changes it.
import { link } from "./api.js";
import * as clock from "./clock.js";
import { $, data } from "./data.js";
import { add, count, countdown, day_and_time, money, number, put, say, show, span, tell, time_of_day } from "./shell.js";
import { is_lit, is_over, milestones } from "./states.js";

const main = document.querySelector("main");

function add_price({ price_minor, original_price_minor: before_minor, currency }, parent) {
  add(parent, "b", money(price_minor, currency));
  if (before_minor <= price_minor) return;
  const before = add(parent, "s");
  add(before, "span", say("was")).className = "unseen";
  before.append(money(before_minor, currency));
  add(parent, "i", "−" + Math.round(100 - (100 * price_minor) / before_minor) + "%");
}

// What stays while the states come and go.
export function show_goods({ sale, item }, on_item) {
  const is_one = sale.items.length < 2;
  show("item", is_one, item.name);
  show("price", is_one, "");
  if (is_one) add_price(item, $("price"));
  show("items", !is_one);
  put($("items"), "");
  for (const each of sale.items) {
    const label = add($("items"), "label");
    const radio = add(label, "input");
    radio.type = "radio";
    radio.name = "item";
    radio.value = each.id;
    radio.checked = each == item;
    radio.onchange = () => on_item(each);
    add(label, "span", each.name);
    add_price(each, label);
  }
  show("same", !sale.start_jitter_ms);
}

function show_facts(sale, item) {
  const facts = [
    say(clock.now() >= sale.opens_at_ms ? "opened_at" : "opens_at", day_and_time(sale.opens_at_ms)),
    count("units", item.units_total),
    say("per_buyer", number(item.units_per_buyer_max)),
    say("to_pay", span(sale.payment_window_s)),
  ];
  put($("facts"), "");
  for (const fact of facts) add($("facts"), "li", fact);
  $("quantity").max = item.units_per_buyer_max;
}

// The headline, and the sentence below it.
function words_of(state, { item, stop, press, purchase, is_back }) {
  if (state == "refused") return [stop.title || say("retry")];
  const { order, sequence } = purchase || {};
  const key =
    state == "sign_in" && data.dev ? "demo"
    : state == "open" && is_back ? "back"
    : state == "repeating" && press.code == "not_open" ? "late_opening"
    : state == "repeating" && /network|unknown|rebuilding/.test(press.code) ? "unanswered"
    : state == "reserved" && !can_pay(order) ? "settling"
    : state == "refunded" ? order.state
    : state;
  const words = tell(key, number(sequence || item.units_per_buyer_max));
  if (state == "sold_out" && stop.at_ms) words[1] = say("taken_by", time_of_day(stop.at_ms)) + words[1];
  if (/sending|repeating/.test(state)) words[1] = say("same_purchase");
  const { reason } = order || purchase || {};
  if (reason && /refunded|cancelled/.test(state) && !/by the (buyer|shop)/.test(reason)) {
    words[1] = /no unit/.test(reason) ? say("no_unit") : reason;
  }
  return words;
}
const can_pay = ({ state }) => /^(pending_payment|paying)$/.test(state);

export function show_state(state, model) {
  const { sale, item, stop, purchase } = model;
  const { order } = purchase || stop || {};
  const focused = document.activeElement;
  main.dataset.state = state;
  main.className = state == "ready" ? "ajar" : /open|sending|repeating|in_line|reserved|paid|limit/.test(state) ? "wide" : "";

  const [headline, sentence = ""] = words_of(state, model);
  put($("headline"), headline);
  put($("detail"), model.note ? say(model.note, number(item.units_per_buyer_max)) : (state == "reserved" && model.fault) || sentence);
  document.title = headline + " " + sale.title;

  const is_payable = state == "reserved" && can_pay(order);
  const is_before = /upcoming|ready/.test(state);
  const has_button = is_before || /checking|offline|open|sending|repeating/.test(state);
  const counts = has_button || /sign_in|image_check/.test(state);
  show("caption", counts || is_payable, say(is_payable ? "pay_within" : is_lit(model, clock.now()) ? "closes_in" : "opens_in"));
  show("clock", counts);
  show("timer", is_payable);
  show("accuracy", counts, clock.error_ms ? say("accuracy", Math.ceil(clock.error_ms)) : "…");

  show("order", order, order && say("order", order.id));
  if (order) $("order").href = link("orders") + "#o" + order.id;

  show("sign-in", state == "sign_in" && data.dev);
  show("captcha", state == "image_check");
  $("picture").alt = say("answer");
  $("items").disabled = $("quantity").disabled = purchase || /sending|repeating/.test(state);
  show("how-many", item.units_per_buyer_max > 1 && has_button);

  const can_buy = state == "open" && !model.is_cooling();
  const sum = money(item.price_minor * model.quantity, item.currency);
  show("buy", has_button, say(can_buy ? "buy" : is_before ? "not_open" : "moment", sum));
  $("buy").disabled = !can_buy;
  show_facts(sale, item);

  show("pay", is_payable && !model.is_giving_back, order && say(model.is_busy ? "moment" : "pay", money(order.amount_minor, order.currency)));
  $("pay").disabled = model.is_busy;
  show("cancel", is_payable && !model.is_busy, say(model.is_giving_back ? "keep" : "cancel"));

  const has_failed = /refused/.test(state);
  const may_buy_more =
    /expired|cancelled|refunded/.test(state) ||
    (/paid|reserved/.test(state) && !model.is_giving_back && (sale.items.length > 1 || item.units_per_buyer_max > purchase.quantity));
  show("again", has_failed || (may_buy_more && !is_over(sale, clock.now())), say(has_failed ? "retry" : "again"));
  // What is reserved is to be paid first.
  $("again").className = state == "reserved" ? "quiet" : "";

  // Whoever pressed what is gone now goes on from here, not from the top of the page.
  if (focused.disabled || (focused != document.body && !focused.offsetParent)) $("headline").focus();
}

let last_left_ms;

// Every second. Only milestones are said aloud. Answers what is left.
export function show_time(state, model) {
  const part = $(state == "reserved" ? "timer" : "clock");
  const until_ms =
    state == "reserved" ? model.purchase.order.pay_by_ms
    : is_lit(model, clock.now()) ? model.sale.closes_at_ms
    : model.lights_at_ms;
  const left_ms = until_ms - clock.now();
  put(part, clock.error_ms ? countdown(left_ms) : "--:--");
  part.className = left_ms > 86400000 ? "long" : "";
  const passed = !part.hidden && milestones.find((s) => last_left_ms > s * 1000 && left_ms <= s * 1000);
  if (passed) put($("milestone"), $("caption").textContent + " " + span(passed));
  last_left_ms = left_ms;
  if (state == "open" && model.is_cooling()) put($("buy"), say("cooling", Math.ceil((model.cool_until - performance.now()) / 1000)));
  return left_ms;
}

// A state speaks for itself.
export function forget_milestone() {
  last_left_ms = 0;
  put($("milestone"), "");
}
