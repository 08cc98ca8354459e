#include "sim/world.hpp"

namespace doorbuster::sim {

World::World(uint64_t seed, const Trace& trace)
    : random(seed),
      trace_(trace),
      seed_(seed),
      disk_(random, {.happened = [this](Fault fault) { happened(fault); },
                     .takes_ms = [this](int64_t taken) { now_us_ += taken * ms; }}),
      clock_(*this) {
    disk_.set_faulty(false);
    {
        MemoryOrders first(orders, disk_);
        CHECK(first.create_sale(make_sale(), SaleState::scheduled, clock_.now()).has_value());
    }
    disk_.set_faulty(true);
    start_process();
    provider.begin();
}

Sale World::make_sale() {
    const auto policy = static_cast<StockPolicy>(random.below(3));
    coverage.did(policy == StockPolicy::reserve    ? Deed::sale_reserve
                 : policy == StockPolicy::at_order ? Deed::sale_at_order
                                                   : Deed::sale_at_payment);
    auto item = [&](const char* id, int64_t units, uint32_t limit) {
        const bool has_own_max = policy == StockPolicy::at_payment && random.chance(500);
        return Item{.id = ItemId(id),
                    .name = id,
                    .price_minor = 100,
                    .original_price_minor = 100,
                    .currency = "TWD",
                    .units_total = static_cast<uint32_t>(units),
                    .units_per_buyer_max = limit,
                    .orders_max = has_own_max ? static_cast<uint32_t>(units + random.between(1, 3)) : 0};
    };
    Sale sale{.id = SaleId("sim"),
              .title = "Simulated",
              .opens_at = from_ms(wall_ms() + 200),
              .closes_at = from_ms(wall_ms() + random.between(8'000, 40'000)),
              .warm_before = std::chrono::seconds(1),
              .stock_policy = policy,
              .payment_window = std::chrono::seconds(random.between(1, 3)),
              .items = {}};
    sale.items.push_back(item("few", random.between(1, 6), 1));
    sale.items.push_back(item("more", random.between(8, 30), 3));
    return sale;
}

void World::note(const std::string& line) {
    fingerprint =
        fold(fingerprint ^ static_cast<uint64_t>(now_us_) ^ 0x9e3779b97f4a7c15, seeded_hash(line, 1));
    if (trace_) trace_(fmt::format("{:>10.3f} ms  {}", static_cast<double>(now_us_) / 1000.0, line));
}

void World::happened(Fault fault) {
    ++coverage.fault_count[static_cast<size_t>(fault)];
    note(fmt::format("fault: {}", fault_names[static_cast<size_t>(fault)]));
}

void World::after(int64_t wait_us, std::function<void()> what) {
    agenda_.emplace(std::pair(now_us_ + wait_us, ++events_), std::move(what));
}

void World::run_until(int64_t until_us) {
    while (!agenda_.empty() && agenda_.begin()->first.first <= until_us) {
        const auto next = agenda_.extract(agenda_.begin());
        now_us_ = std::max(now_us_, next.key().first);  // a slow disk may have passed it
        if (faulty_ && random.chance(3)) {
            const bool forward = random.chance(500);
            clock_offset_ms_ += forward ? random.between(1, 900) : -random.between(1, 900);
            happened(forward ? Fault::clock_jump_forward : Fault::clock_jump_back);
        }
        if (faulty_ && process_ && random.chance(1)) {
            happened(Fault::crash_between_steps);
            die("crashed");
        }
        if (faulty_ && process_ && process_->running() && random.chance(1) && random.chance(300)) stop();
        next.mapped()();
    }
    now_us_ = std::max(now_us_, until_us);
}

void World::start_process() {
    ++life_;
    clock_.shown = {};
    process_ = std::make_unique<Process>(Process::Stores{ledger, orders, disk_}, clock_, faulty_ ? 4u : 64u,
                                         random.next(), outside());
    note(fmt::format("process {} starts", life_));
    // The gates answer before the books are there.
    after(random.between(1, 20) * ms, [this, life = life_] {
        if (life_ != life || !process_) return;
        alive([](Process& process) { return process.start(); });
        if (process_) schedule_steps();
    });
}

Process::Outside World::outside() {
    // A record is refused or not by its id alone: the next life meets the same one.
    auto refuses = [this](const LedgerEntry& entry) {
        const bool refused =
            faulty_ && !entry.replaces && seeded_hash(entry.acceptance.purchase.hex(), seed_) % 80 == 0;
        if (refused) happened(Fault::record_refused);
        return refused;
    };
    const uint64_t life = life_;
    return {.emit = [this](const Ask& ask, const Answer& answer) { emit(ask, answer); },
            .ask_provider =
                [this, life](const ProviderCall& call) {
                    provider.ask(call, [this, life, call](const ProviderAnswer& answer) {
                        if (life == life_ && process_) process_->provider_answered(call, answer);
                    });
                },
            .send_event =
                [this, life](const Notifier::Message& message) {
                    const Instant at = clock_.now();
                    receiver.send(message, [this, life, at, event = message.event](uint32_t status) {
                        if (life == life_ && process_)
                            process_->event_answered({event, at, status, "", milliseconds(1)});
                    });
                },
            .repeats_release =
                [this] {
                    const bool repeats = faulty_ && random.chance(50);
                    if (repeats) happened(Fault::release_repeated);
                    return repeats;
                },
            .gathers = [this] { coverage.did(Deed::gathered); },
            .store = {.refuses = refuses,
                      .committed = [this](std::span<const OrderId> touched) { judge_commit(touched); }}};
}

void World::die(const char* how) {
    note(fmt::format("process {} {}", life_, how));
    ++coverage.crashes;
    process_.reset();
    start_later();
}

void World::stop() {
    coverage.did(Deed::stopped);
    note("its operator stops it");
    alive([this](Process& process) {
        return process.end([this](Uptime until) { now_us_ = std::max(now_us_, int64_t{until.count()}); });
    });
    if (!process_) return;  // it did not survive that
    if (!process_->ended_well()) {
        broke(fmt::format("P3: stopped at {} of {} records, though nothing had failed that it could wait for",
                          orders.position, ledger.records.size()));
    }
    note(fmt::format("process {} ended", life_));
    process_.reset();
    start_later();
}

void World::start_later() {
    after(random.between(1, 60) * ms, [this] {
        if (!process_) start_process();
    });
}

void World::schedule_steps() {
    const uint64_t life = life_;
    // Two threads of the product: each takes its turn when the world lets it.
    struct Turns {
        static void owner(World& world, uint64_t of_life) {
            world.after(world.random.between(100, 6000), [&world, of_life] {
                if (world.life_ != of_life || !world.process_) return;
                world.alive([](Process& process) { return process.owner_step(); });
                owner(world, of_life);
            });
        }
        static void orders(World& world, uint64_t of_life) {
            world.after(world.random.between(500, 30'000), [&world, of_life] {
                if (world.life_ != of_life || !world.process_) return;
                world.alive([](Process& process) { return process.orders_step(); });
                orders(world, of_life);
            });
        }
    };
    Turns::owner(*this, life);
    Turns::orders(*this, life);
}

void World::set_faulty(bool faulty) {
    faulty_ = faulty;
    disk_.set_faulty(faulty);
    if (!faulty) provider.stay();
    note(faulty ? "faults begin" : "faults end");
}

void World::send(const Ask& ask, std::function<void(const Answer&)> heard) {
    ++coverage.commands;
    waiting_[ask.number] = {std::move(heard)};
    const int copies = faulty_ && random.chance(40) ? 2 : 1;
    if (copies == 2) happened(Fault::message_repeated);
    for (int copy = 0; copy < copies; ++copy) {
        if (faulty_ && random.chance(25)) {
            happened(Fault::message_lost);
            continue;
        }
        int64_t travels_us = random.between(50, 3000);
        if (faulty_ && random.chance(50)) {
            happened(Fault::message_delayed);
            travels_us += random.between(10, 1500) * ms;
        }
        if (now_us_ + travels_us < last_arrival_us_) happened(Fault::message_reordered);
        last_arrival_us_ = std::max(last_arrival_us_, now_us_ + travels_us);
        after(travels_us, [this, ask] { arrive(ask); });
    }
}

void World::arrive(const Ask& ask) {
    if (!process_) return;  // nobody listens; the buyer's patience decides
    alive([&](Process& process) {
        process.receive(ask);
        return true;
    });
}

void World::emit(const Ask& ask, const Answer& answer) {
    note(fmt::format("answer {} {} {} {} x{}: {} {}", ask.number, ask.buyer.view(), ask.item.view(),
                     ask.purchase.hex().substr(0, 8), ask.units,
                     heard_names[static_cast<size_t>(answer.heard)], answer.sequence));
    ++coverage.heard_count[static_cast<size_t>(answer.heard)];
    if (answer.heard == Heard::overloaded) happened(Fault::queue_full);
    judge(ask, answer);
    if (faulty_ && random.chance(25)) return happened(Fault::message_lost);
    after(random.between(50, 3000), [this, number = ask.number, answer] {
        const auto found = waiting_.find(number);
        if (found == waiting_.end()) return;  // the answer to a repeated message, or too late
        const auto heard = std::move(found->second.heard);
        waiting_.erase(found);
        heard(answer);
    });
}

}  // namespace doorbuster::sim
