// The sale page as it looks in each state. Reads the model, never changes it.
import { link } from "./api.js";
import * as clock from "./clock.js";
import { $, data } from "./data.js";
import { add, countdown, day_and_time, money, number, put, say, show, span, tell, time_of_day } from "./shell.js";
import { is_over, milestones } from "./states.js";

const main = document.querySelector("main");

// In which states there is a button to buy, and what it says.
const buy_words = {
  upcoming: "not_open",
  ready: "not_open",
  checking: "moment",
  offline: "moment",
  open: "buy",
  sending: "moment",
  repeating: "moment",
};
const repeating_words = { network: "unanswered", unknown: "unanswered", rebuilding: "unanswered", not_open: "late_opening" };

function add_price(item, parent) {
  const { price_minor, original_price_minor: before_minor, currency } = item;
  add(parent, "b", money(price_minor, currency));
  if (before_minor <= price_minor) return;
  const before = add(parent, "s", "");
  add(before, "span", say("was")).className = "unseen";
  before.append(money(before_minor, currency));
  add(parent, "i", "−" + Math.round(100 * (1 - price_minor / before_minor)) + "%");
}

// What stays while the states come and go.
export function show_goods({ sale, item, quantity }, on_item) {
  const { items } = sale;
  const is_one = items.length < 2;
  show($("item"), is_one, item.name);
  show($("price"), is_one, "");
  if (is_one) add_price(item, $("price"));
  else if (!$("items").elements.length) {
    for (const each of items) {
      const label = add($("items"), "label", "");
      const radio = add(label, "input", "");
      radio.type = "radio";
      radio.name = "item";
      radio.value = each.id;
      radio.onchange = () => on_item(each);
      add(label, "span", each.name);
    }
  }
  $("items").hidden = is_one;
  for (const [i, radio] of [...$("items").elements].entries()) {
    const label = radio.parentNode;
    radio.checked = items[i].id == item.id;
    while (label.children[2]) label.lastChild.remove();
    add_price(items[i], label);
  }
  const facts = {
    opens_at: { time: day_and_time(sale.opens_at_ms) },
    units: { n: number(item.units_total) },
    per_buyer: { n: number(item.units_per_buyer_max) },
    to_pay: { time: span(sale.payment_window_s) },
  };
  put($("facts"), "");
  for (const fact in facts) add($("facts"), "li", say(fact, facts[fact]));
  $("quantity").max = item.units_per_buyer_max;
  $("quantity").value = quantity;
}

// The headline, and the sentence below it.
function words_of(state, { sale, item, stop, press, purchase, is_back }) {
  const { order, sequence, reason } = purchase || {};
  const values = {
    n: number(sequence || item.units_per_buyer_max),
    time: stop && time_of_day(stop.at_ms),
  };
  if (state == "refused" && stop.title) return [stop.title];
  const key =
    state == "open" && is_back ? "back"
    : state == "repeating" ? repeating_words[press.code] || state
    : state == "offline" && navigator.onLine ? "unreachable"
    : state == "reserved" && !can_pay(order) ? "settling"
    : state == "refunded" ? order.state
    : state;
  const words = tell(key, values);
  if (/sending|repeating/.test(state)) words[1] = say("same_purchase");
  const why = order ? order.reason : reason;
  if (why && /refunded|cancelled/.test(state) && !/by the buyer/.test(why)) {
    words[1] = /no unit/.test(why) ? say("no_unit") : why;
  }
  return words;
}
const can_pay = (order) => /^pay|pend/.test(order.state) && order.state != "paid";

export function show_state(state, model) {
  const { sale, item, stop, purchase } = model;
  const order = (purchase || stop || {}).order;
  const had_focus = document.activeElement;
  main.dataset.state = state;

  const [headline, sentence = ""] = words_of(state, model);
  put($("headline"), headline);
  put($("detail"), model.note ? say(model.note) : sentence);
  document.title = headline + " " + sale.title;

  const is_payable = state == "reserved" && can_pay(order);
  const counts = buy_words[state] || /sign_in|image_check/.test(state);
  show($("caption"), counts || is_payable, say(is_payable ? "pay_within" : model.is_lit() ? "closes_in" : "opens_in"));
  $("clock").hidden = !counts;
  $("timer").hidden = !is_payable;
  show($("accuracy"), counts, clock.is_set() ? say("accuracy", { ms: clock.error_ms }) : "…");

  show($("order"), order, order && say("order", { order: order.id }));
  if (order) $("order").href = link("orders") + "#o" + order.id;

  $("sign-in").hidden = state != "sign_in" || !data.dev;
  $("captcha").hidden = state != "image_check";
  $("picture").alt = say("answer");
  $("items").disabled = $("quantity").disabled = purchase || /sending|repeating/.test(state);
  $("how-many").hidden = item.units_per_buyer_max < 2 || !buy_words[state];

  const is_lit = state == "open" && !model.is_cooling();
  const price = money(item.price_minor * model.quantity, item.currency);
  show($("buy"), buy_words[state], say(state != "open" || is_lit ? buy_words[state] || "moment" : "moment", { money: price }));
  $("buy").disabled = !is_lit;

  show(
    $("pay"),
    is_payable && !model.is_giving_back,
    is_payable && say(model.is_paying ? "moment" : "pay", { money: money(order.amount_minor, order.currency) }),
  );
  $("pay").disabled = model.is_paying;
  show($("cancel"), is_payable && !model.is_paying, say(model.is_giving_back ? "keep" : "cancel"));
  const is_failed = /refused/.test(state);
  const may_buy_more = sale.items.length > 1 || (purchase && item.units_per_buyer_max > purchase.quantity);
  show(
    $("again"),
    is_failed ||
      (!is_over(sale, clock.now()) &&
        (/expired|cancelled|refunded/.test(state) || (/paid|reserved/.test(state) && may_buy_more))),
    say(is_failed ? "retry" : "again"),
  );

  // Whoever pressed what is gone now goes on from here, not from the top of the page.
  if (had_focus != document.body && (had_focus.disabled || !had_focus.offsetParent)) $("headline").focus();
}

let last_left_ms;

// Every second. Only milestones are said aloud. Answers what is left.
export function show_time(state, model) {
  const { sale, purchase } = model;
  const is_reserved = state == "reserved";
  const part = $(is_reserved ? "timer" : "clock");
  const until_ms = is_reserved ? purchase.order.pay_by_ms : model.is_lit() ? sale.closes_at_ms : model.lights_at_ms;
  const left_ms = until_ms - clock.now();
  put(part, clock.is_set() ? countdown(left_ms) : "--:--");
  const passed = !part.hidden && milestones.find((s) => last_left_ms > s * 1000 && left_ms <= s * 1000);
  if (passed) put($("milestone"), $("caption").textContent + " " + span(passed));
  last_left_ms = left_ms;
  return left_ms;
}

// A state speaks for itself.
export function forget_milestone() {
  last_left_ms = 0;
  put($("milestone"), "");
}
