#include "sim/process.hpp"

#include "funnel/admission.hpp"

namespace doorbuster::sim {

namespace {

const SaleId the_sale("sim");

Heard heard_of(const PurchaseReply& reply) {
    if (reply.verdict == Verdict::unknown) return Heard::unknown;
    switch (reply.answer.outcome) {
        case ReserveOutcome::accepted:
            return Heard::accepted;
        case ReserveOutcome::repeated:
            return reply.answer.state == HoldState::finished ? Heard::cancelled : Heard::repeated;
        case ReserveOutcome::sold_out:
            return Heard::sold_out;
        case ReserveOutcome::limit_reached:
            return Heard::limit_reached;
        case ReserveOutcome::not_open:
            return Heard::not_open;
        case ReserveOutcome::ended:
            return Heard::ended;
        case ReserveOutcome::paused:
            return Heard::paused;
        case ReserveOutcome::key_mismatch:
            return Heard::key_mismatch;
    }
    CHECK(false);
    return Heard::unknown;
}

Heard heard_of(Admission admission) {
    switch (admission) {
        case Admission::not_open:
            return Heard::not_open;
        case Admission::ended:
            return Heard::ended;
        case Admission::paused:
            return Heard::paused;
        case Admission::sold_out:
            return Heard::sold_out;
        case Admission::pass:
            break;
    }
    CHECK(false);
    return Heard::unknown;
}

}  // namespace

Process::Process(LedgerState& ledger, OrdersState& orders, Disk& disk, Clock& clock, size_t queue_capacity,
                 Emit emit)
    : ledger_state_(ledger),
      orders_state_(orders),
      clock_(clock),
      emit_(std::move(emit)),
      ledger_(ledger, disk),
      ledger_reader_(ledger),
      orders_(orders, disk),
      ids_(1, static_cast<int64_t>(*orders_.reader().last_order())),
      shard_(ledger_),
      worker_(ledger_reader_, orders_, *this, ids_, {.batch_max = 8, .rate_per_second_max = 2000}),
      desk_(orders_, *this,
            [this](auto catalogue, const auto& shown) {
                catalogue_ = std::move(catalogue);
                shown();
            }),
      queue_(queue_capacity) {
    shard_.set_sinks({this});
}

bool Process::start() {
    const bool started = desk_.load().has_value() && worker_.load().has_value() &&
                         rebuild(shard_, orders_.reader(), ledger_reader_).has_value();
    running_ = started;
    return started;
}

void Process::receive(const Ask& ask) {
    if (!running_) return emit_(ask, {Heard::rebuilding});
    const ListedItem* item = listed().find(ask.item.view());
    const Admission admission = admit(listed(), *item, ask.purchase, ask.buyer, clock_.now());
    if (admission != Admission::pass) return emit_(ask, {heard_of(admission)});
    asks_.push_back(ask);
    if (!queue_.try_push({item->slot, ask.purchase, ask.buyer, ask.units, 0, &asks_.back()})) {
        asks_.pop_back();
        emit_(ask, {Heard::overloaded});
    }
}

void Process::deliver(std::span<const PurchaseReply> replies) {
    for (const PurchaseReply& reply : replies) {
        const Ask& ask = *static_cast<const Ask*>(reply.reply_to);
        emit_(ask, {heard_of(reply), reply.answer.sequence, reply.answer.purchase});
    }
}

bool Process::owner_step() {
    while (!controls_.empty()) {
        Control control = std::move(controls_.front());
        controls_.pop_front();
        shard_.apply(control.command);
        if (control.applied) control.applied();
    }
    std::vector<PurchaseCommand> batch;
    for (PurchaseCommand command; queue_.pop(command);) batch.push_back(command);
    return batch.empty() || shard_.decide(batch, clock_.now()).has_value();
}

bool Process::orders_step() {
    while (!tasks_.empty()) {
        const auto task = std::move(tasks_.front());
        tasks_.pop_front();
        task();
    }
    desk_.tick(clock_.now(), clock_.uptime());
    return worker_.step(clock_.now(), clock_.uptime()).has_value() && !orders_.failure();
}

void Process::operate(SaleVerb verb, std::function<void(bool)> done) {
    tasks_.push_back([this, verb, done = std::move(done)] {
        desk_.act(the_sale, verb, {}, clock_.now(), [done](const auto& result) { done(result.has_value()); });
    });
}

void Process::restock(const ItemId& item, uint32_t units, std::function<void(bool)> done) {
    tasks_.push_back([this, item, units, done = std::move(done)] {
        desk_.restock(the_sale, item, units, desk_.find(the_sale)->version, clock_.now(),
                      [done](const auto& result) { done(result.has_value()); });
    });
}

void Process::cancel(OrderId order, const BuyerId& buyer, std::function<void(bool)> done) {
    tasks_.push_back([this, order, buyer, done = std::move(done)] {
        const auto cancelled = orders_.cancel(order, buyer, clock_.now());
        if (!cancelled) return done(false);
        control(ReleasePurchase{cancelled->sale, cancelled->item, cancelled->purchase},
                [done] { done(true); });
    });
}

void Process::control(ControlCommand command, std::function<void()> applied) {
    if (running_) {
        controls_.push_back({std::move(command), std::move(applied)});
        return;
    }
    shard_.apply(command);
    if (applied) applied();
}

uint32_t Process::units_returning(const ItemId& item, std::optional<BuyerId> of_buyer) const {
    uint32_t units = 0;
    const ItemSlot slot = listed().find(item.view())->slot;
    for (const Control& control : controls_) {
        if (const auto* release = std::get_if<ReleasePurchase>(&control.command);
            release && release->item == item) {
            const LedgerEntry& entry =
                *ledger_state_.records[ledger_state_.by_purchase.at(release->purchase)].entry;
            if (!of_buyer || *of_buyer == entry.acceptance.buyer) units += entry.acceptance.units;
        }
        if (const auto* restock = std::get_if<RestockItem>(&control.command);
            restock && restock->slot == slot) {
            if (!of_buyer) units += restock->units;
        }
    }
    return units;
}

bool Process::has_words_pending() const {
    for (const Control& control : controls_) {
        if (std::holds_alternative<SetTerms>(control.command)) return true;
    }
    return false;
}

}  // namespace doorbuster::sim
