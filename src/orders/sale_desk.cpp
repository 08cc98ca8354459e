#include "orders/sale_desk.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.hpp"
#include "base/log.hpp"
#include "sale/terms.hpp"

namespace doorbuster {

namespace {

constexpr std::chrono::seconds warm_up_asked_every{1};

StoreError not_allowed(std::string detail) {
    return {StoreErrc::not_allowed, "changing the sale", std::move(detail)};
}

StoreError no_such_sale(const SaleId& sale) {
    return {StoreErrc::not_found, "finding the sale", "there is no sale " + sale.str()};
}

// Where a verb leads, and the state in which it has taken effect already.
struct Aim {
    SaleState from, to;
    std::string_view otherwise;
};

Aim aim_of(SaleVerb verb) {
    using enum SaleState;
    switch (verb) {
        case SaleVerb::warm:
            return {scheduled, ready, "only a scheduled sale can be warmed up"};
        case SaleVerb::open:
            return {ready, open, "only a sale that is ready can be opened: warm it up first"};
        case SaleVerb::pause:
            return {open, paused, "only an open sale can be paused"};
        case SaleVerb::resume:
            return {paused, open, "only a paused sale can be resumed"};
        case SaleVerb::close:
            return {open, closed, "only an open or paused sale can be closed"};
    }
    CHECK(false);
    return {};
}

// Told once, and again only when it is something else.
void log_changes(const SaleId& sale, const WarmUpFindings& before, const WarmUpFindings& now) {
    const auto same = [](const WarmUpFinding& one, const WarmUpFinding& other) {
        return one.is_same_as(other);
    };
    if (std::ranges::equal(before, now, same)) return;
    for (const WarmUpFinding& finding : now) {
        if (std::ranges::any_of(before, [&](const auto& old) { return old.is_same_as(finding); })) continue;
        log_warn(finding.severity == Severity::failure ? "the warm-up of a sale waits"
                                                       : "the warm-up of a sale warns",
                 {{"sale", sale.view()},
                  {"check", finding.check},
                  {"what", finding.what},
                  {"mend", finding.mend}});
    }
    if (!is_warm(before) && is_warm(now))
        log_info("nothing holds the warm-up of a sale any more", {{"sale", sale.view()}});
}

}  // namespace

SaleDesk::SaleDesk(Orders& orders, BookControl& books, Publish publish, WarmUp warm_up)
    : orders_(orders), books_(books), publish_(std::move(publish)), warm_up_(std::move(warm_up)) {}

StoreResult<void> SaleDesk::load() {
    auto records = orders_.reader().sales();
    if (!records) return records.error();
    for (SaleRecord& record : *records) {
        Entry& entry = entries_[record.sale.id.str()];
        entry.record = std::move(record);
        give_slots(entry);
        tell_books(entry, true, {});
        list(entry);
        if (entry.record.state == SaleState::reconciled) close_books(entry, {});
    }
    show(make_catalogue(), [] {});
    return {};
}

StoreResult<void> SaleDesk::refresh() {
    auto records = orders_.reader().sales();
    if (!records) return records.error();
    for (SaleRecord& record : *records) {
        const auto [found, is_new] = entries_.try_emplace(record.sale.id.str());
        Entry& entry = found->second;
        if (!is_new && record.version <= entry.record.version) continue;
        // Behind the warm-up items change by a restock alone, and that is in the book's stock.
        const bool new_books = is_new || (phase_in(entry.record.state) == Phase::not_ready &&
                                          entry.record.sale.items != record.sale.items);
        settle(entry, std::move(record), new_books, [](const auto&) {});
        if (entry.record.state == SaleState::reconciled) close_books(entry, {});
    }
    return {};
}

// As recorded now, where others change it, too.
StoreResult<SaleDesk::Entry*> SaleDesk::find_fresh(const SaleId& sale) {
    if (is_shared_) {
        if (const auto read = refresh(); !read) return read.error();
    }
    const auto found = entries_.find(sale.view());
    if (found == entries_.end()) return no_such_sale(sale);
    return &found->second;
}

void SaleDesk::create(const Sale& sale, bool as_draft, Instant now, Done done) {
    auto created = orders_.create_sale(sale, as_draft ? SaleState::draft : SaleState::scheduled, now);
    if (!created) return done(created.error());
    log_info("sale created", {{"sale", sale.id.view()}, {"items", sale.items.size()}});
    settle(entries_[sale.id.str()], *std::move(created), true, std::move(done));
}

void SaleDesk::act(const SaleId& sale, SaleVerb verb, std::optional<uint64_t> version, Instant now,
                   Done done) {
    const auto found = find_fresh(sale);
    if (!found) return done(found.error());
    Entry& entry = **found;
    const SaleState state = entry.record.state;
    if (version && *version != entry.record.version) {
        return done(StoreError{StoreErrc::conflict, "changing the sale",
                               fmt::format("the sale has version {} now", entry.record.version)});
    }

    if (state == SaleState::reconciled) return done(not_allowed("the sale is reconciled; it is over"));
    const Aim aim = aim_of(verb);
    const bool closes_paused = verb == SaleVerb::close && state == SaleState::paused;
    const bool was_warmed_before = verb == SaleVerb::warm && phase_in(state) != Phase::not_ready;
    const bool goes_on_warming = verb == SaleVerb::warm && state == SaleState::warming;
    if (state == aim.to || was_warmed_before) {
        // Nothing to change, but the step that led here may still be on its way to the gates:
        // the answer goes the same way, behind it.
        return tell_books(entry, false, shown_then(entry, std::move(done)));
    }
    if (state != aim.from && !closes_paused && !goes_on_warming) {
        return done(not_allowed(fmt::format("the sale is {}; {}", name_of(state), aim.otherwise)));
    }
    if (verb == SaleVerb::warm) return warm(entry, now, std::move(done));
    SaleRecord changed = entry.record;
    // Opened before its time by the operator's word: that word is the new time.
    if (verb == SaleVerb::open) changed.sale.opens_at = std::min(changed.sale.opens_at, now);
    step(entry, std::move(changed), aim.to, now, std::move(done));
}

void SaleDesk::warm(Entry& entry, Instant now, Done done) {
    if (entry.record.state == SaleState::scheduled) {
        // A failure is told at once, a success when the gates show it.
        const auto failure = std::make_shared<std::optional<StoreError>>();
        step(entry, entry.record, SaleState::warming, now, [failure](const auto& stepped) {
            if (!stepped) *failure = stepped.error();
        });
        if (*failure) return done(**failure);
    }
    if (is_warm_now(entry)) return step(entry, entry.record, SaleState::ready, now, std::move(done));
    // Behind the step that led here, as it goes to the gates.
    tell_books(entry, false, shown_then(entry, std::move(done)));
}

// Without a warm-up of the backend the books, boards and catalogue are in memory since the sale was
// created, and there is nothing to wait for. A crash leaves `warming`, and the next tick goes on from there.
bool SaleDesk::is_warm_now(Entry& entry) {
    if (!warm_up_) return true;
    WarmUpFindings found = warm_up_(entry.record);
    log_changes(entry.record.sale.id, entry.warm_up, found);
    entry.warm_up = std::move(found);
    return is_warm(entry.warm_up);
}

void SaleDesk::step(Entry& entry, SaleRecord changed, SaleState to, Instant now, Done done) {
    CHECK(may_step(changed.state, to));
    const SaleState from = changed.state;
    changed.state = to;
    auto recorded = orders_.change_sale(changed, false, now);
    if (!recorded) return done(recorded.error());
    log_info("sale stepped",
             {{"sale", changed.sale.id.view()}, {"from", name_of(from)}, {"to", name_of(to)}});
    settle(entry, *std::move(recorded), false, std::move(done));
}

void SaleDesk::reconciled(const SaleId& sale, Instant now, Done done) {
    const auto found = find_fresh(sale);
    if (!found) return done(found.error());
    Entry& entry = **found;
    if (entry.record.state == SaleState::reconciled) return done(entry.record);
    if (entry.record.state != SaleState::closed) {
        return done(not_allowed(fmt::format("the sale is {}; only a closed sale can be reconciled",
                                            name_of(entry.record.state))));
    }
    SaleRecord changed = entry.record;
    changed.state = SaleState::reconciled;
    auto recorded = orders_.change_sale(changed, false, now);
    if (!recorded) return done(recorded.error());
    log_info("sale reconciled", {{"sale", sale.view()}});
    entry.record = *std::move(recorded);
    // A payment that comes now finds no book, and goes back: the account is closed.
    close_books(entry, shown_then(entry, std::move(done)));
}

void SaleDesk::close_books(const Entry& entry, std::function<void()> applied) {
    for (const ItemSlot slot : entry.slots) {
        books_.control(CloseBook{slot}, slot == entry.slots.back() ? std::move(applied) : nullptr);
    }
}

void SaleDesk::restock(const SaleId& sale, const ItemId& item, uint32_t units, uint64_t version, Instant now,
                       Done done) {
    const auto found = find_fresh(sale);
    if (!found) return done(found.error());
    Entry& entry = **found;
    if (phase_in(entry.record.state) == Phase::closed) {
        return done(not_allowed(
            fmt::format("the sale is {}; nothing is sold any more", name_of(entry.record.state))));
    }
    auto recorded = orders_.restock(sale, item, units, version, now);
    if (!recorded) return done(recorded.error());
    log_info("item restocked", {{"sale", sale.view()}, {"item", item.view()}, {"units", units}});
    entry.record = *std::move(recorded);
    for (size_t i = 0; i < entry.slots.size(); ++i) {
        if (entry.record.sale.items[i].id != item) continue;
        books_.control(RestockItem{entry.slots[i], units}, shown_then(entry, std::move(done)));
        return;
    }
    CHECK(false);  // the restock found the item
}

void SaleDesk::change(const Sale& changed, bool schedule, uint64_t version, Instant now, Done done) {
    const auto found = find_fresh(changed.id);
    if (!found) return done(found.error());
    Entry& entry = **found;
    const SaleState state = entry.record.state;
    const bool before_warm_up = state == SaleState::draft || state == SaleState::scheduled;
    const Sale& current = entry.record.sale;
    if (schedule && state != SaleState::draft && state != SaleState::scheduled) {
        return done(
            not_allowed(fmt::format("the sale is {}; only a draft can be scheduled", name_of(state))));
    }
    if (phase_in(state) == Phase::closed) {
        return done(
            not_allowed(fmt::format("the sale is {}; it cannot be changed any more", name_of(state))));
    }
    if (!before_warm_up) {
        Sale allowed = current;
        allowed.title = changed.title;
        allowed.closes_at = changed.closes_at;
        // What guards the door may be tightened and loosened while people stand before it.
        allowed.human_check = changed.human_check;
        allowed.pow_number_max = changed.pow_number_max;
        allowed.purchases_per_second_max = changed.purchases_per_second_max;
        allowed.buyers_per_address_max = changed.buyers_per_address_max;
        allowed.start_jitter = changed.start_jitter;
        if (changed != allowed) {
            return done(
                not_allowed(fmt::format("the sale is {}; after the warm-up only title, closes_at, the human "
                                        "check, the limits and start_jitter_ms may change",
                                        name_of(state))));
        }
    }
    const bool with_items = changed.items != current.items;
    SaleRecord record = entry.record;
    record.sale = changed;
    record.version = version;
    if (schedule) record.state = SaleState::scheduled;
    auto recorded = orders_.change_sale(record, with_items, now);
    if (!recorded) return done(recorded.error());
    settle(entry, *std::move(recorded), with_items, std::move(done));
}

const SaleRecord* SaleDesk::find(const SaleId& sale) const {
    const auto found = entries_.find(sale.view());
    return found == entries_.end() ? nullptr : &found->second.record;
}

WarmUpFindings SaleDesk::warm_up_of(const SaleId& sale) const {
    const auto found = entries_.find(sale.view());
    if (found == entries_.end()) return {};
    const Entry& entry = found->second;
    // Asked anew: where several processes share a sale, this one's clock may not be the one that asks.
    if (entry.record.state == SaleState::warming && warm_up_) return warm_up_(entry.record);
    return entry.record.state == SaleState::ready ? entry.warm_up : WarmUpFindings();
}

void SaleDesk::tick(Instant now, Uptime uptime) {
    if (uptime < retry_at_) return;
    auto failed = [&](StoreResult<SaleRecord> result) {
        if (result) return;
        retry_at_ = uptime + std::chrono::seconds(1);
        log_error("a sale could not take the step that is due", {{"error", result.error().text()}});
    };
    for (auto& [id, entry] : entries_) {
        const Sale& sale = entry.record.sale;
        const SaleState state = entry.record.state;
        if (state == SaleState::warming ||
            (state == SaleState::scheduled && now >= sale.opens_at - sale.warm_before)) {
            if (uptime < entry.ask_warm_up_at) continue;
            entry.ask_warm_up_at = uptime + warm_up_asked_every;
            if (state == SaleState::scheduled) step(entry, entry.record, SaleState::warming, now, failed);
            if (entry.record.state == SaleState::warming && is_warm_now(entry))
                step(entry, entry.record, SaleState::ready, now, failed);
        } else if (state == SaleState::ready && now >= sale.opens_at) {
            step(entry, entry.record, SaleState::open, now, failed);
        } else if ((state == SaleState::open || state == SaleState::paused) && now >= sale.closes_at) {
            step(entry, entry.record, SaleState::closed, now, failed);
        } else if (state == SaleState::open) {
            if (const auto told = watch_stock(entry, now, uptime); !told) failed(told.error());
        }
    }
}

StoreResult<void> SaleDesk::watch_stock(Entry& entry, Instant now, Uptime uptime) {
    // A unit that comes back and goes at once is no news.
    constexpr std::chrono::seconds lasting{1};
    const bool sold_out = entry.listed->has_no_units();
    if (sold_out != entry.sold_out_seen || entry.seen_since == Uptime{}) {
        entry.sold_out_seen = sold_out;
        entry.seen_since = uptime;
    }
    if (entry.sold_out_told == sold_out || uptime - entry.seen_since < lasting) return {};
    const auto told = orders_.tell_sold_out(entry.record.sale.id, sold_out, now);
    if (told) entry.sold_out_told = sold_out;
    return told;
}

void SaleDesk::settle(Entry& entry, SaleRecord record, bool new_books, Done done) {
    entry.record = std::move(record);
    if (new_books) {
        for (const ItemSlot slot : entry.slots) books_.control(CloseBook{slot});
        give_slots(entry);
    }
    tell_books(entry, new_books, shown_then(entry, std::move(done)));
}

void SaleDesk::give_slots(Entry& entry) {
    entry.slots.clear();
    entry.boards.clear();
    for (size_t i = 0; i < entry.record.sale.items.size(); ++i) {
        entry.slots.push_back(ItemSlot{slots_used_++});
        entry.boards.push_back(std::make_shared<ItemBoard>());
    }
}

void SaleDesk::tell_books(const Entry& entry, bool new_books, std::function<void()> applied) {
    const auto& [sale, state, version, stock] = entry.record;
    for (size_t i = 0; i < sale.items.size(); ++i) {
        const Book::Terms terms = terms_of(sale, sale.items[i]);
        ControlCommand command = SetTerms{entry.slots[i], terms, phase_in(state), version};
        if (new_books) {
            command = OpenBook{entry.slots[i], sale.id,         sale.items[i].id, terms,
                               stock[i],       phase_in(state), entry.boards[i],  version};
        }
        const bool is_last = i + 1 == sale.items.size();
        books_.control(std::move(command), is_last ? std::move(applied) : nullptr);
    }
}

void SaleDesk::list(Entry& entry) {
    auto listed = std::make_shared<ListedSale>(
        ListedSale{entry.record.sale, entry.record.state, entry.record.version, {}});
    for (size_t i = 0; i < entry.slots.size(); ++i) {
        listed->items.push_back({entry.record.sale.items[i], entry.slots[i], entry.boards[i]});
    }
    entry.listed = std::move(listed);
}

std::function<void()> SaleDesk::shown_then(Entry& entry, Done done) {
    list(entry);
    // Made here, shown on the owner thread: the books know the change before any gate does.
    return [this, made = make_catalogue(), record = entry.record, done = std::move(done)] {
        show(made, [record, done] { done(record); });
    };
}

SaleDesk::NumberedCatalogue SaleDesk::make_catalogue() {
    Catalogue::Sales sales;
    for (const auto& [id, entry] : entries_) sales.emplace(id, entry.listed);
    return {++catalogues_made_, std::make_shared<const Catalogue>(std::move(sales))};
}

// Books that are far away answer in another order than they were told in, and an older catalogue would take
// back what a newer one shows. Whoever comes late is answered behind the newer one, which has that change,
// too.
void SaleDesk::show(NumberedCatalogue made, std::function<void()> shown) {
    std::lock_guard lock(newest_mutex_);
    if (made.number > newest_.number) newest_ = std::move(made);
    publish_(newest_.catalogue, std::move(shown));
}

}  // namespace doorbuster
