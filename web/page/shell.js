// What every page has: language, money, time, and the bar on top.
import { link } from "./api.js";
import { $, data } from "./data.js";
import * as identity from "./identity.js";
import { keep, recall } from "./store.js";

// A live region speaks when it is written to, also with the same words.
export function put(part, text) {
  if (part.textContent != text) part.textContent = text;
}
export function show(id, is_shown, text) {
  $(id).hidden = !is_shown;
  if (is_shown && text !== undefined) put($(id), text);
}
export function add(parent, tag, text = "") {
  const part = document.createElement(tag);
  part.textContent = text;
  parent.append(part, " ");
  return part;
}

const name = "doorbuster.language";
let words, index;

export const say = (key, value) => words[key][index].replaceAll("{}", () => value);
// A headline and a sentence.
export const tell = (key, value) => say("s_" + key, value).split("|");

const language = () => document.documentElement.lang;

// One, or many.
export function count(key, value) {
  const [one, many = one] = say(key, number(value)).split("|");
  return new Intl.PluralRules(language()).select(value) == "one" ? one : many;
}

function preferred() {
  for (const tag of [recall(name), ...navigator.languages]) {
    if (/^zh-(hant|tw|hk|mo)/i.test(tag)) return "zh-Hant";
    if (/^zh/i.test(tag)) return "zh-Hans";
    if (/^en/i.test(tag)) return "en";
  }
  return "en";
}

function speak(tag) {
  document.documentElement.lang = $("language").value = tag;
  index = data.languages.indexOf(tag);
  for (const part of document.querySelectorAll("[data-say]")) part.textContent = say(part.dataset.say);
  show("who", data.dev && identity.token());
  put($("buyer"), identity.buyer());
}

export function begin(words_of_page, on_language) {
  words = words_of_page;
  for (const anchor of document.querySelectorAll("[data-link]")) anchor.href = link(anchor.dataset.link);
  $("language").onchange = (event) => {
    keep(name, event.target.value);
    speak(event.target.value);
    on_language();
  };
  $("sign-out").onclick = () => {
    identity.forget_token();
    location.reload();
  };
  speak(preferred());
}
export const signed_in = () => speak(language());

export function money(minor, currency) {
  const format = (digits) =>
    new Intl.NumberFormat(language(), { style: "currency", currency, minimumFractionDigits: digits });
  const { maximumFractionDigits: digits } = format().resolvedOptions();
  const unit = 10 ** digits;
  return format(minor % unit ? digits : 0).format(minor / unit);
}

export const number = (value) => value.toLocaleString(language());

const formatted = (options) => (ms) => new Intl.DateTimeFormat(language(), options).format(ms);
export const day_and_time = formatted({ dateStyle: "full", timeStyle: "short" });
// A page that has no list does without.
export const day_in_list = /* @__PURE__ */ formatted({ dateStyle: "medium", timeStyle: "short" });
export const time_of_day = formatted({ timeStyle: "medium" });

const amount = (value, unit) =>
  new Intl.NumberFormat(language(), { style: "unit", unit, unitDisplay: "long" }).format(value);
export const span = (seconds) =>
  seconds % 60 || seconds < 60 ? amount(seconds, "second") : amount(seconds / 60, "minute");

// 2 days 03:12:34, or 12:34
export function countdown(ms) {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  const two = (value) => (value < 10 ? "0" : "") + value;
  const part = (unit, base) => two(Math.floor(seconds / unit) % base);
  const days = Math.floor(seconds / 86400);
  const small = part(60, 60) + ":" + part(1, 60);
  if (seconds < 3600) return small;
  return (days ? amount(days, "day") + " " : "") + part(3600, 24) + ":" + small;
}
