// What becomes of a purchase: server-sent events by fetch, since EventSource cannot say who asks;
// where no stream comes through, the purchase is asked for, less and less often.
import { ask, buyer_headers } from "./api.js";
import { data } from "./data.js";
import { answer_of, jittered, pause_after } from "./http.js";

const silence_ms_max = 40000;  // the server says something every 15 s
const first_ms_max = 5000;     // and at once when the stream opens

export function follow(purchase, on_news, on_loss) {
  const path = "/v1/purchases/" + purchase;
  let last_id, stop, has_ended;

  async function read_stream() {
    stop = new AbortController();
    let timer;
    const patience = (ms) => {
      clearTimeout(timer);
      timer = setTimeout(() => stop.abort(), ms);
    };
    patience(first_ms_max);
    try {
      const reply = await fetch(data.api + path + "/events", {
        credentials: "include",
        headers: { ...buyer_headers(), ...(last_id && { "Last-Event-ID": last_id }) },
        signal: stop.signal,
      });
      if (reply.status == 204) return (has_ended = true);
      if (!reply.ok) return on_answer(await answer_of(reply));
      const reader = reply.body.getReader();
      const decoder = new TextDecoder();
      for (let text = ""; ; ) {
        const { done, value } = await reader.read();
        if (done) return true;
        patience(silence_ms_max);
        text += decoder.decode(value, { stream: true });
        const events = text.split("\n\n");
        text = events.pop();
        events.forEach(on_event);
      }
    } catch {
      return false;
    } finally {
      clearTimeout(timer);
    }
  }

  function on_event(event) {
    const field = (name) => (event.match(`(?:^|\n)${name}: ?(.*)`) || [])[1];
    last_id = field("id") || last_id;
    const news = field("data");
    if (news && !has_ended) on_news(JSON.parse(news));
  }

  // Whether it was an answer about the purchase.
  function on_answer(answer) {
    if (has_ended) return true;
    if (!answer.code) on_news(answer.body);
    if (answer.code != "not_found" && answer.code != "unauthenticated") return !answer.code;
    has_ended = true;
    on_loss(answer);
    return true;
  }

  (async () => {
    for (let attempt = 0; !has_ended; ++attempt) {
      if (await read_stream()) attempt = 0;
      if (has_ended) return;
      const asked = await ask(path);
      on_answer(asked);
      await pause_after({ ...asked, wait_ms: Math.max(asked.wait_ms, jittered(1000)) }, attempt);
    }
  })();

  return () => {
    has_ended = true;
    stop.abort();
  };
}
