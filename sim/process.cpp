#include "sim/process.hpp"

#include <set>

#include "funnel/admission.hpp"

namespace doorbuster::sim {

namespace {

const SaleId the_sale("sim");

// Who finds a full batch is behind, and gathers no more: of the rushes that begin at 2, 4, 6 and 8, the last
// never gather.
constexpr size_t batch_max = 8;

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
        case ReserveOutcome::sold_out_for_now:
            return Heard::sold_out_for_now;
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
        case Admission::sold_out_for_now:
            return Heard::sold_out_for_now;
        case Admission::pass:
            break;
    }
    CHECK(false);
    return Heard::unknown;
}

// The next one is behind it.
int64_t last_id_of(const OrdersState& orders) {
    const auto last = [](const auto& rows) { return rows.empty() ? 0 : rows.rbegin()->first; };
    return std::max(last(orders.orders), last(orders.payments));
}

// A second of the product is a few dozen milliseconds here.
PaymentDesk::Options payment_options() {
    return {.enabled = true,
            .calls_max = 16,
            .waiters_max = 2,
            .looks = {.look_min = milliseconds(40),
                      .look_max = milliseconds(500),
                      .void_watch = milliseconds(3000)},
            .event_keep = std::chrono::hours(1),
            .sweep_batch = 4,
            .sweep_every = milliseconds(8),
            .reinstating_max = 4};
}

}  // namespace

Process::Process(const Stores& stores, Clock& clock, size_t queue_capacity, uint64_t seed, Outside outside)
    : ledger_state_(stores.ledger),
      orders_state_(stores.orders),
      disk_(stores.disk),
      clock_(clock),
      outside_(std::move(outside)),
      ledger_(stores.ledger, stores.disk),
      ledger_reader_(stores.ledger, stores.disk),
      orders_(stores.orders, stores.disk, outside_.store),
      outbox_(stores.orders, stores.disk),
      ids_(1, last_id_of(stores.orders)),
      shard_(ledger_),
      worker_(ledger_reader_, orders_, *this, ids_,
              {.batch_max = batch_max,
               .rush_min = 2 + 2 * (seed % 4),
               .rate_per_second_max = 2000,
               .rate_per_second_in_rush = 1000,
               .retry_after = {milliseconds(10), milliseconds(20), milliseconds(30)}},
              {.tally = &tally_}),
      desk_(orders_, *this,
            [this](auto catalogue, const auto& shown) {
                catalogue_ = std::move(catalogue);
                shown();
            }),
      payments_(orders_, *this, ids_, tally_, seed, payment_options(),
                {.ask = [this](const ProviderCall& call) { outside_.ask_provider(call); },
                 .post = [this](std::function<void()> task) { tasks_.push_back(std::move(task)); },
                 .changed = {},
                 .abandoned = {}}),
      letters_(ledger_reader_, orders_, *this,
               [this](std::function<void()> task) { tasks_.push_back(std::move(task)); }),
      notifier_(outbox_, orders_.reader(), seed, {.in_flight_max = 4, .batch_max = 16},
                [this](const Notifier::Message& message) { outside_.send_event(message); }),
      queue_(queue_capacity) {
    shard_.set_sinks({this});
    notifier_.set_delivering(true);
}

bool Process::start() {
    const bool started = desk_.load().has_value() && worker_.load().has_value() &&
                         payments_.load().has_value() &&
                         rebuild(shard_, orders_.reader(), ledger_reader_).has_value();
    running_ = started;
    return started;
}

void Process::receive(const Ask& ask) {
    if (!running_) return outside_.emit(ask, {Heard::rebuilding});
    const ListedItem* item = listed().find(ask.item.view());
    const Admission admission = admit(listed(), *item, ask.purchase, ask.buyer, clock_.now());
    if (admission != Admission::pass) return outside_.emit(ask, {heard_of(admission)});
    asks_.push_back(ask);
    if (!queue_.try_push({item->slot, ask.purchase, ask.buyer, ask.units, 0, &asks_.back()})) {
        asks_.pop_back();
        outside_.emit(ask, {Heard::overloaded});
    }
}

void Process::deliver(std::span<const PurchaseReply> replies) {
    for (const PurchaseReply& reply : replies) {
        const Ask& ask = *static_cast<const Ask*>(reply.reply_to);
        outside_.emit(ask, {heard_of(reply), reply.answer.sequence, reply.answer.purchase});
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
    const std::vector<ReinstateCommand> reinstatements = std::exchange(reinstatements_, {});
    if (batch.empty() && reinstatements.empty()) return true;
    const size_t records_before = ledger_state_.records.size();
    if (!shard_.decide(batch, clock_.now(), reinstatements)) return false;
    if (ledger_state_.records.size() != records_before) worker_.ledger_grew(clock_.uptime());
    return true;
}

bool Process::run_tasks() {
    const bool has_some = !tasks_.empty();
    while (!tasks_.empty()) {
        const auto task = std::move(tasks_.front());
        tasks_.pop_front();
        task();
    }
    return has_some;
}

StoreResult<OrderWorker::Next> Process::worker_step() {
    using enum OrderWorker::Next;
    const auto failures = [this] { return disk_.failures() + orders_.refusals(); };
    const uint64_t position_before = worker_.position(), failures_before = failures();
    const Uptime uptime = clock_.uptime();
    const auto next = worker_.step(clock_.now(), uptime);
    if (!next) return next;
    if (worker_.position() != position_before) {
        retries_ = false;
    } else if (failures() != failures_before) {
        retries_ = true;
    }
    // Any other wait it answers with at_later at once; that behind a batch is a rush's. Whoever comes before
    // its end gathers.
    if (*next == more && worker_.wait_until() > uptime) gathers_until_ = worker_.wait_until();
    if (*next == at_later && worker_.wait_until() == gathers_until_ && !caught_up()) {
        gathers_until_ = {};
        outside_.gathers();
    }
    return next;
}

bool Process::orders_step() {
    run_tasks();
    desk_.tick(clock_.now(), clock_.uptime());
    if (!worker_step()) return false;
    if (!payments_.step(clock_.now(), clock_.uptime())) return false;
    const auto told = notifier_.step(clock_.now(), clock_.uptime());
    if (!told && told.error().outcome_unknown) return false;
    return !orders_.failure();
}

bool Process::end(const std::function<void(Uptime)>& sleep_until) {
    using enum OrderWorker::Next;
    constexpr int turns_max = 10'000;  // many times what the longest ledger of a run takes
    if (!owner_step()) return false;
    worker_.hurry();
    for (int i = 0; i < turns_max; ++i) {
        const bool did_tasks = run_tasks();
        const auto next = worker_step();
        if (!next || orders_.failure()) return false;
        if (*next == idle && !did_tasks) {
            ended_well_ = caught_up();
            break;
        }
        if (*next != at_later) continue;
        if (!retries_) break;  // in a hurry it waits only for what has failed, and nothing has
        sleep_until(worker_.wait_until());
    }
    return notifier_.flush(clock_.now()).has_value();
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

void Process::begin_payment(OrderId order, const BuyerId& buyer, PaymentDesk::Paid done) {
    tasks_.push_back(
        [this, order, buyer, done = std::move(done)] { payments_.begin(order, buyer, clock_.now(), done); });
}

void Process::cancel(OrderId order, const BuyerId& buyer) {
    tasks_.push_back(
        [this, order, buyer] { payments_.cancel(order, buyer, clock_.now(), [](const auto&) {}); });
}

void Process::refund(OrderId order, bool units_return) {
    tasks_.push_back([this, order, units_return] {
        payments_.refund(order, units_return, "the shop's word", clock_.now(), [](const auto&) {});
    });
}

void Process::retry_letter(uint64_t position, LettersDesk::Done done) {
    tasks_.push_back(
        [this, position, done = std::move(done)] { letters_.retry(position, clock_.now(), done); });
}

void Process::drop_letter(uint64_t position, LettersDesk::Done done) {
    tasks_.push_back(
        [this, position, done = std::move(done)] { done(letters_.drop(position, clock_.now())); });
}

void Process::hint(const std::string& event, PaymentId payment, std::function<void(bool)> done) {
    tasks_.push_back([this, event, payment, done = std::move(done)] {
        done(payments_.hint(event, payment, clock_.now()).has_value());
    });
}

void Process::provider_answered(const ProviderCall& call, const ProviderAnswer& answer) {
    tasks_.push_back([this, call, answer] { payments_.answered(call, answer, clock_.now()); });
}

void Process::event_answered(const Notifier::Answer& answer) {
    tasks_.push_back([this, answer] { notifier_.answered(answer); });
}

void Process::control(ControlCommand command, std::function<void()> applied) {
    if (running_) {
        const bool is_release = std::holds_alternative<ReleasePurchase>(command);
        if (is_release && outside_.repeats_release()) controls_.push_back({command, {}});
        controls_.push_back({std::move(command), std::move(applied)});
        return;
    }
    shard_.apply(command);
    if (applied) applied();
}

void Process::reinstate(const Reinstatement& asked, std::function<void(const Reinstated&)> answered) {
    if (!running_) return answered({});
    reinstatements_.push_back({asked, std::move(answered)});
}

uint32_t Process::units_returning(const ItemId& item, std::optional<BuyerId> of_buyer) const {
    uint32_t units = 0;
    std::set<PurchaseId> released;  // the book may hear of one twice
    const ItemSlot slot = listed().find(item.view())->slot;
    for (const Control& control : controls_) {
        if (const auto* release = std::get_if<ReleasePurchase>(&control.command);
            release && release->item == item && released.insert(release->purchase).second) {
            const Acceptance& acceptance = accepted(release->purchase);
            if (!of_buyer || *of_buyer == acceptance.buyer) units += acceptance.units;
        }
        if (const auto* restock = std::get_if<RestockItem>(&control.command);
            restock && restock->slot == slot) {
            if (!of_buyer) units += restock->units;
        }
    }
    return units;
}

uint32_t Process::slots_returning(const ItemId& item) const {
    uint32_t slots = 0;
    std::set<PurchaseId> released;
    const ItemSlot slot = listed().find(item.view())->slot;
    for (const Control& control : controls_) {
        if (const auto* sell = std::get_if<SellPurchase>(&control.command); sell && sell->item == item)
            slots += accepted(sell->purchase).units;
        // Each unit makes room for two orders, where nothing else is said.
        if (const auto* restock = std::get_if<RestockItem>(&control.command);
            restock && restock->slot == slot)
            slots += 2 * restock->units;
        if (const auto* release = std::get_if<ReleasePurchase>(&control.command);
            release && release->item == item && released.insert(release->purchase).second)
            slots += accepted(release->purchase).units;
    }
    return slots;
}

const Acceptance& Process::accepted(const PurchaseId& purchase) const {
    return ledger_state_.records[ledger_state_.by_purchase.at(purchase)].entry->acceptance;
}

bool Process::has_words_pending() const {
    for (const Control& control : controls_) {
        if (std::holds_alternative<SetTerms>(control.command)) return true;
    }
    return false;
}

}  // namespace doorbuster::sim
