// Every word of the pages, in the order of data.languages. {} stands for a value; what a state says
// (s_…) is a headline and, behind the bar, a sentence; where a number is counted, the bar parts one
// from many.
export const shell = {
  all_sales: ["All sales", "全部活动", "全部活動"],
  my_orders: ["My orders", "我的订单", "我的訂單"],
  buyer: ["Your name", "您的名字", "您的名字"],
  sign_in: ["Sign in", "登录", "登入"],
  sign_out: ["Sign out", "退出", "登出"],
  moment: ["One moment…", "请稍候…", "請稍候…"],
  pay: ["Pay {}", "支付 {}", "支付 {}"],
  cancel: ["Give it back", "放弃购买", "放棄購買"],
  keep: ["No, keep it", "不，我要保留", "不，我要保留"],
  order: ["Order {}", "订单 {}", "訂單 {}"],
  s_sign_in: [
    "Please sign in.|Sign in at the shop, then come back here.",
    "请先登录。|在商店登录后，再回到本页。",
    "請先登入。|在商店登入後，再回到本頁。",
  ],
  s_demo: [
    "Please sign in.|This is a demo: any name will do.",
    "请先登录。|这是演示，随便填个名字即可。",
    "請先登入。|這是示範，隨便填個名字即可。",
  ],
  s_offline: [
    "No connection.|This page comes back by itself.",
    "连接已断开。|恢复后本页会自动继续。",
    "連線已中斷。|恢復後本頁會自動繼續。",
  ],
};

export const sale = {
  opens_in: ["Opens in", "距开始", "距開始"],
  closes_in: ["Open, closes in", "进行中，距结束", "進行中，距結束"],
  pay_within: ["Pay within", "剩余支付时间", "剩餘支付時間"],
  accuracy: ["Server time, accurate to ±{} ms", "服务器时间，误差 ±{} 毫秒", "伺服器時間，誤差 ±{} 毫秒"],
  opens_at: ["Opens {}", "{} 开始", "{} 開始"],
  was: ["Before:", "原价：", "原價："],
  units: ["{} unit|{} units", "共 {} 件", "共 {} 件"],
  per_buyer: ["{} per person", "每人限购 {} 件", "每人限購 {} 件"],
  to_pay: ["{} to pay", "{}内支付", "{}內支付"],
  quantity: ["Quantity", "数量", "數量"],
  answer: ["Six characters in the picture", "图片中的六个字符", "圖片中的六個字元"],
  send_answer: ["Check", "提交", "送出"],
  other_picture: ["Another picture", "换一张", "換一張"],
  no_picture: ["I cannot see it", "我看不到图片", "我看不到圖片"],
  wrong_answer: ["That was not it. Here is a new one.", "不正确，请看新的一张。", "不正確，請看新的一張。"],
  buy: ["Buy for {}", "立即购买 {}", "立即購買 {}"],
  not_open: ["Not open yet", "尚未开始", "尚未開始"],
  retry: ["Try again", "重试", "重試"],
  again: ["Buy again", "再次购买", "再次購買"],
  fair: ["A fair sale", "公平抢购", "公平搶購"],
  fair_first: [
    "First come, first served: the button lights for all at the same moment.",
    "先到先得，所有人的按钮同时亮起。",
    "先到先得，所有人的按鈕同時亮起。",
  ],
  fair_press: [
    "One press is enough. If it is busy, it is repeated for you.",
    "按一次就够了；如遇繁忙，会替您自动重试。",
    "按一次就夠了；如遇繁忙，會替您自動重試。",
  ],
  fair_tab: [
    "After a reload or in a second tab it is the same purchase.",
    "刷新或另开标签页，仍是同一笔购买。",
    "重新整理或另開分頁，仍是同一筆購買。",
  ],
  giving_back: ["It goes back in a few seconds.", "几秒后放弃。", "幾秒後放棄。"],
  no_unit: [
    "When your payment came, no unit was left.",
    "支付到达时，已没有剩余商品。",
    "支付到達時，已沒有剩餘商品。",
  ],
  same_purchase: [
    "It stays one purchase. No need to press or reload.",
    "始终是同一笔购买，无需再按，也无需刷新。",
    "始終是同一筆購買，無需再按，也無需重新整理。",
  ],
  s_upcoming: [
    "Not open yet.|Leave this page open. The rest happens by itself.",
    "尚未开始。|请保持本页打开，其余会自动完成。",
    "尚未開始。|請保持本頁開啟，其餘會自動完成。",
  ],
  s_checking: [
    "Checking…|Your device solves a small puzzle. Nothing to do.",
    "正在验证…|您的设备正在解一道小题，无需操作。",
    "正在驗證…|您的裝置正在解一道小題，無需操作。",
  ],
  s_image_check: [
    "One check first.|Then there is nothing to do but press.",
    "先完成一次验证。|之后只需按下按钮。",
    "先完成一次驗證。|之後只需按下按鈕。",
  ],
  s_ready: [
    "Ready.|Nothing to do but wait.",
    "准备就绪。|只需等待，无需操作。",
    "準備就緒。|只需等待，無需操作。",
  ],
  s_open: ["It is open.|One press is enough.", "已经开始。|按一次就够了。", "已經開始。|按一次就夠了。"],
  s_back: [
    "A unit came back.|First come, first served.",
    "有商品释出。|先到先得。",
    "有商品釋出。|先到先得。",
  ],
  s_sending: ["Sending…", "正在提交…", "正在送出…"],
  s_repeating: ["Very busy. We keep asking.", "非常繁忙，正在继续尝试。", "非常繁忙，正在繼續嘗試。"],
  s_unanswered: ["No answer yet. We keep asking.", "尚无答复，正在继续尝试。", "尚無回覆，正在繼續嘗試。"],
  s_late_opening: ["Opening any moment.", "马上开始。", "馬上開始。"],
  s_in_line: [
    "It is yours.|You are number {}. Your order is being written.",
    "抢到了。|您是第 {} 位，正在生成订单。",
    "搶到了。|您是第 {} 位，正在建立訂單。",
  ],
  s_reserved: [
    "Reserved for you.|Pay in time, or it goes back on sale.",
    "已为您保留。|请按时支付，否则会重新开售。",
    "已為您保留。|請按時支付，否則會重新開賣。",
  ],
  s_settling: [
    "Asking the payment provider…|If you paid, you get a unit or your money back.",
    "正在向支付机构核实…|如果您已支付，将得到商品或退款。",
    "正在向支付機構核實…|如果您已支付，將得到商品或退款。",
  ],
  s_paid: [
    "Paid. Thank you!|The shop takes it from here.",
    "支付成功，谢谢！|接下来交给商店。",
    "支付成功，謝謝！|接下來交給商店。",
  ],
  s_expired: [
    "Not paid in time.|It went back on sale. If you paid, you get a unit or your money back.",
    "超时未支付。|商品已重新开售。如果您已支付，将得到商品或退款。",
    "逾時未支付。|商品已重新開賣。如果您已支付，將得到商品或退款。",
  ],
  s_cancelled: ["Cancelled.|It went back on sale.", "已取消。|商品已重新开售。", "已取消。|商品已重新開賣。"],
  s_refunding: ["Your money is on its way back.", "正在退款。", "正在退款。"],
  s_refunded: ["Your money was sent back.", "已退款。", "已退款。"],
  s_sold_out: [
    "Sold out.|All were taken by {}. Unpaid ones may come back: this page watches.",
    "已售罄。|截至 {} 已全部被抢到。未支付的可能会释出，本页会留意。",
    "已售完。|截至 {} 已全部被搶到。未支付的可能會釋出，本頁會留意。",
  ],
  s_sold_out_for_now: [
    "Sold out for now.|Unpaid ones may come back: this page watches.",
    "暂时售罄。|未支付的可能会释出，本页会留意。",
    "暫時售完。|未支付的可能會釋出，本頁會留意。",
  ],
  s_limit_reached: [
    "You have yours.|The limit is {} per person.",
    "您已经抢到了。|每人限购 {} 件。",
    "您已經搶到了。|每人限購 {} 件。",
  ],
  s_paused: [
    "Paused.|This page goes on when the sale does.",
    "活动已暂停。|恢复后本页会自动继续。",
    "活動已暫停。|恢復後本頁會自動繼續。",
  ],
  s_ended: [
    "The sale has ended.|Orders stand.",
    "活动已结束。|已有的订单依然有效。",
    "活動已結束。|已有的訂單依然有效。",
  ],
  s_check_refused: ["The check was not passed.", "验证未通过。", "驗證未通過。"],
};

export const lists = {
  failed: ["That did not work: {}", "操作未成功：{}", "操作未成功：{}"],
};

export const sales = {
  title: ["Sales", "抢购活动", "搶購活動"],
  none: [
    "No sale is on or planned at the moment.",
    "目前没有进行中或即将开始的活动。",
    "目前沒有進行中或即將開始的活動。",
  ],
  opens_in: ["Opens in {}", "{} 后开始", "{} 後開始"],
  closes_in: ["Closes in {}", "{} 后结束", "{} 後結束"],
  from: ["from {}", "{} 起", "{} 起"],
  scheduled: ["Soon", "即将开始", "即將開始"],
  warming: ["Soon", "即将开始", "即將開始"],
  ready: ["Soon", "即将开始", "即將開始"],
  open: ["Open", "进行中", "進行中"],
  paused: ["Paused", "已暂停", "已暫停"],
  sold_out: ["Sold out", "已售罄", "已售完"],
  closed: ["Ended", "已结束", "已結束"],
  reconciled: ["Ended", "已结束", "已結束"],
};

export const orders = {
  title: ["My orders", "我的订单", "我的訂單"],
  none: ["No orders yet.", "还没有订单。", "還沒有訂單。"],
  more: ["Older orders", "更早的订单", "更早的訂單"],
  pay_within: ["Pay within {}", "请在 {} 内支付", "請在 {} 內支付"],
  ordered: ["Ordered {}", "{} 下单", "{} 下單"],
  pending_payment: ["To be paid", "待支付", "待支付"],
  paying: ["To be paid", "待支付", "待支付"],
  voiding: ["Being settled", "核实中", "核實中"],
  reinstating: ["Being settled", "核实中", "核實中"],
  paid: ["Paid", "已支付", "已支付"],
  expired: ["Not paid in time", "超时未支付", "逾時未支付"],
  cancelled: ["Cancelled", "已取消", "已取消"],
  refunding: ["Being refunded", "退款中", "退款中"],
  refunded: ["Refunded", "已退款", "已退款"],
};
