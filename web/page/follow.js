// What becomes of a purchase: server-sent events by fetch, since EventSource cannot say who asks;
// where no stream comes through, the purchase is asked for, less and less often.
import { ask, buyer_headers } from "./api.js";
import { data } from "./data.js";
import { pause_after } from "./http.js";

const silence_ms_max = 40000;  // the server says something every 15 s
const first_ms_max = 5000;     // and at once when the stream opens

// on_loss hears that there is no such purchase, or no such buyer.
export function follow(purchase, on_news, on_loss) {
  const path = "/v1/purchases/" + purchase;
  let last_id, stop, has_ended;

  // Answers whether there was a stream.
  async function read_stream() {
    stop = new AbortController();
    let timer;
    const expect_within = (ms) => {
      clearTimeout(timer);
      timer = setTimeout(() => stop.abort(), ms);
    };
    expect_within(first_ms_max);
    let was_there = false;
    try {
      const reply = await fetch(data.api + path + "/events", {
        credentials: "include",
        headers: { ...buyer_headers(), ...(last_id && { "Last-Event-ID": last_id }) },
        signal: stop.signal,
      });
      if (reply.status == 204) has_ended = true;
      if (reply.status != 200) return;
      const reader = reply.body.getReader();
      const decoder = new TextDecoder();
      for (let text = ""; ; was_there = true) {
        const { done, value } = await reader.read();
        if (done) break;
        expect_within(silence_ms_max);
        const events = (text + decoder.decode(value, { stream: true })).split("\n\n");
        text = events.pop();
        events.forEach(on_event);
      }
    } catch {
      // Cut off: it is taken up again.
    }
    clearTimeout(timer);
    return was_there;
  }

  function on_event(event) {
    const [, id] = event.split("\nid: ");
    const [, news] = event.split("\ndata: ");
    if (id) last_id = parseInt(id);
    if (news && !has_ended) on_news(JSON.parse(news));
  }

  (async () => {
    for (let attempt = 0; !has_ended; ++attempt) {
      if (await read_stream()) attempt = 0;
      if (has_ended) return;
      const answer = await ask(path);
      if (has_ended) return;
      if (!answer.code) on_news(answer.body);
      if (/not_found|unauth/.test(answer.code)) return on_loss(answer);
      await pause_after(answer, attempt);
    }
  })();

  return () => {
    has_ended = true;
    stop.abort();
  };
}
