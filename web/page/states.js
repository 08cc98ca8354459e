// Which state the page is in: a pure function of what it knows.

export function state_of(model, now_ms) {
  const { sale, purchase, press, stop, check } = model;
  if (purchase) {
    const { state } = purchase.order || { state: purchase.status };
    if (/^(paid|expired|cancelled)$/.test(state)) return state;
    return /refund/.test(state) ? "refunded" : purchase.order ? "reserved" : "in_line";
  }
  if (press) return press.state;
  if (is_over(sale, now_ms)) return "ended";
  if (model.is_offline) return "offline";
  if (model.is_unknown) return "sign_in";
  if (stop) return stop.state;
  if (model.image) return "image_check";
  if (model.is_checking) return "checking";
  const is_checked = sale.human_check == "none" || check;
  if (is_lit(model, now_ms)) return is_checked ? "open" : "checking";
  return is_checked && is_warm(sale, now_ms) ? "ready" : "upcoming";
}

// Whether the door has been opened, whatever the clock says.
export const has_opened = (sale) => /open|paused|sold_out/.test(sale.state);
export const is_lit = ({ sale, lights_at_ms }, now_ms) => has_opened(sale) || now_ms >= lights_at_ms;
export const is_over = (sale, now_ms) => /closed|reconciled/.test(sale.state) || now_ms >= sale.closes_at_ms;

// From then on a check can be had.
export const warms_at = (sale) => sale.opens_at_ms - 1000 * sale.warm_before_s;
export const is_warm = (sale, now_ms) => sale.state != "scheduled" || now_ms >= warms_at(sale);

// What is worth being said aloud on the way to zero, in seconds.
export const milestones = [600, 300, 60, 30, 10];
