// The list of sales: what is on, what comes, and when.
import { link, look } from "./api.js";
import * as clock from "./clock.js";
import { $, data } from "./data.js";
import { jittered, pause, persist } from "./http.js";
import * as shell from "./shell.js";
import { add, countdown, day_in_list, money, put, say, tell } from "./shell.js";
import { has_opened, is_over } from "./states.js";
import * as words from "./words.js";

const look_again_ms = 20000;
const main = document.querySelector("main");

let sales = data.sales && data.sales.sales;
let is_lost = false;
let fault = "";  // why the list is not to be had

// A sale's time comes whether or not anybody has asked again.
function state_of(sale) {
  if (is_over(sale, clock.now())) return "closed";
  return !has_opened(sale) && clock.now() >= sale.opens_at_ms ? "open" : sale.state;
}

const first_first = (a, b) => has_opened(b) - has_opened(a) || a.opens_at_ms - b.opens_at_ms;

function price_of({ items }) {
  const [cheapest] = [...items].sort((a, b) => a.price_minor - b.price_minor);
  const price = money(cheapest.price_minor, cheapest.currency);
  return items.length > 1 ? say("from", price) : price;
}

function show() {
  main.dataset.state = is_lost ? "offline" : fault ? "failed" : sales ? "sales" : "loading";
  const is_empty = sales && !sales.length;
  put($("status"), is_lost ? tell("offline").join(" ") : fault || (is_empty ? say("none") : sales ? "" : say("moment")));
  $("sales").textContent = "";
  for (const sale of (sales || []).sort(first_first)) {
    const card = add($("sales"), "li", "");
    const top = add(card, "div", "");
    top.className = "top";
    const anchor = add(add(top, "h2", ""), "a", sale.title);
    anchor.href = link("sale", sale.id);
    add(top, "span", "").className = "tag";
    add(card, "p", sale.items.map((item) => item.name).join(", ") + " · " + price_of(sale));
    add(card, "p", "").className = "when";
    add(card, "p", say(clock.now() >= sale.opens_at_ms ? "opened_at" : "opens_at", day_in_list(sale.opens_at_ms)));
  }
  tick();
}

// Only what has changed is written: a list that is rebuilt every second loses the focus.
function tick() {
  for (const [i, card] of [...$("sales").children].entries()) {
    const state = state_of(sales[i]);
    const is_on = /open|sold_out|paused/.test(state);
    const left_ms = (is_on ? sales[i].closes_at_ms : sales[i].opens_at_ms) - clock.now();
    card.dataset.state = state;
    put(card.querySelector(".tag"), say(state));
    put(card.querySelector(".when"), left_ms > 0 ? say(is_on ? "closes_in" : "opens_in", countdown(left_ms)) : "");
  }
}

function on_wait() {
  is_lost = true;
  show();
}

async function load() {
  const { code, body } = await persist(() => look("/v1/sales"), on_wait);
  const is_mended = is_lost || fault;
  is_lost = false;
  fault = code && say("failed", body.title || code);
  if (!code && !is_mended && JSON.stringify(sales) == JSON.stringify(body.sales)) return;
  if (!code) sales = body.sales;
  show();
}

async function begin() {
  shell.begin({ ...words.shell, ...words.lists, ...words.sales }, show);
  show();
  await clock.set_clock(1, on_wait);
  setInterval(tick, 1000);
  for (;;) {
    await load();
    await pause(jittered(look_again_ms));
    if (document.hidden) await new Promise((done) => document.addEventListener("visibilitychange", done, { once: true }));
  }
}

begin();
