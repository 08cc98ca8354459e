// Which state the page is in: a pure function of what it knows.

const of_order = {
  pending_payment: "reserved",
  paying: "reserved",
  voiding: "reserved",
  reinstating: "reserved",
  paid: "paid",
  expired: "expired",
  cancelled: "cancelled",
  refunding: "refunded",
  refunded: "refunded",
};

export function state_of(model, now_ms) {
  const { sale, purchase, press, stop, check } = model;
  if (purchase) {
    if (purchase.order) return of_order[purchase.order.state];
    return purchase.status == "cancelled" ? "cancelled" : "in_line";
  }
  if (press) return press.state;
  if (is_over(sale, now_ms)) return "ended";
  if (model.is_offline) return "offline";
  if (model.is_unknown) return "sign_in";
  if (stop) return stop.state;
  if (model.image) return "image_check";
  if (model.is_checking) return "checking";
  const is_checked = sale.human_check == "none" || check;
  if (now_ms >= model.lights_at_ms) return is_checked ? "open" : "checking";
  return is_checked && is_warm(sale, now_ms) ? "ready" : "upcoming";
}

// From then on a check can be had.
export const warms_at = (sale) => sale.opens_at_ms - 1000 * sale.warm_before_s;
export const is_warm = (sale, now_ms) => sale.state != "scheduled" || now_ms >= warms_at(sale);

export const is_over = (sale, now_ms) => /closed|reconciled/.test(sale.state) || now_ms >= sale.closes_at_ms;

// Whether the door has been opened, whatever the clock says.
export const has_opened = (sale) => /open|paused|sold_out/.test(sale.state);

// What is worth being said aloud on the way to zero, in seconds.
export const milestones = [600, 300, 60, 30, 10];
