// SaleDesk: the operator's verbs, and what the clock does to a sale.
//
// A change is recorded first, then told to the books, then shown to the gates, and
// only then answered: whoever heard "paused" knows that nobody buys any more.
//
// Thread safety: none; it lives on the orders thread. `Done` may be called on any.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "sale/catalogue.hpp"
#include "store/book_control.hpp"
#include "store/orders.hpp"
#include "store/warm_up.hpp"

namespace doorbuster {

enum class SaleVerb : uint8_t { warm, open, pause, resume, close };

class SaleDesk {
public:
    // Calls `shown` when every gate has the catalogue.
    using Publish = std::function<void(std::shared_ptr<const Catalogue>, std::function<void()> shown)>;
    using Done = std::function<void(StoreResult<SaleRecord>)>;

    SaleDesk(Orders& orders, BookControl& books, Publish publish, WarmUp warm_up = {});

    // Opens the books of the recorded sales and publishes the first catalogue.
    [[nodiscard]] StoreResult<void> load();

    // Other processes change the same sales: what is recorded is read again before every verb.
    // REQUIRES: before the first.
    void share() { is_shared_ = true; }
    // What others have recorded meanwhile is told to the books and shown.
    [[nodiscard]] StoreResult<void> refresh();

    // REQUIRES: faults_of(sale) is empty.
    void create(const Sale& sale, bool as_draft, Instant now, Done done);

    // Errors: not_found; conflict (the version is not `version`); not_allowed (the state
    // does not allow it: detail says what does). Repeating a verb that already took
    // effect answers with the sale as it is. `warm` answers with a sale that is still warming while
    // its warm-up holds it there; the clock goes on asking.
    void act(const SaleId& sale, SaleVerb verb, std::optional<uint64_t> version, Instant now, Done done);
    void restock(const SaleId& sale, const ItemId& item, uint32_t units, uint64_t version, Instant now,
                 Done done);

    // The terms in `changed`, which faults_of finds right, in place of the recorded ones. Until the
    // warm-up anything but the id may change; later title, closes_at and what guards the door.
    void change(const Sale& changed, bool schedule, uint64_t version, Instant now, Done done);

    // A clean audit found every order of a closed sale settled: its books go. not_found, not_allowed.
    void reconciled(const SaleId& sale, Instant now, Done done);

    const SaleRecord* find(const SaleId& sale) const;
    // What the warm-up says of a sale that is warming, or said when it became ready.
    WarmUpFindings warm_up_of(const SaleId& sale) const;

    // What is due by the clock: warming, opening, closing; and the shop hears when an open sale
    // has sold its last unit or has units again, once that has lasted a second. Errors are logged
    // and tried again a second of `uptime` later.
    void tick(Instant now, Uptime uptime);

private:
    struct Entry {
        SaleRecord record;
        std::vector<ItemSlot> slots;
        std::vector<std::shared_ptr<ItemBoard>> boards;
        std::shared_ptr<const ListedSale> listed;  // as the gates see it

        WarmUpFindings warm_up;   // as last answered
        Uptime ask_warm_up_at{};  // by the clock; the operator's word asks at once

        // What the shop was told of its stock; none: not known to this process. And what has been
        // seen since when.
        std::optional<bool> sold_out_told;
        bool sold_out_seen = false;
        Uptime seen_since{};
    };

    struct NumberedCatalogue {
        uint64_t number = 0;  // in the order in which they were made: each has all that those before it have
        std::shared_ptr<const Catalogue> catalogue;
    };

    StoreResult<Entry*> find_fresh(const SaleId& sale);
    StoreResult<void> watch_stock(Entry& entry, Instant now, Uptime uptime);
    void close_books(const Entry& entry, std::function<void()> applied);
    void warm(Entry& entry, Instant now, Done done);
    bool is_warm_now(Entry& entry);
    void step(Entry& entry, SaleRecord changed, SaleState to, Instant now, Done done);
    void settle(Entry& entry, SaleRecord record, bool new_books, Done done);
    void give_slots(Entry& entry);
    void tell_books(const Entry& entry, bool new_books, std::function<void()> applied);
    static void list(Entry& entry);
    std::function<void()> shown_then(Entry& entry, Done done);
    NumberedCatalogue make_catalogue();
    void show(NumberedCatalogue made, std::function<void()> shown);

    Orders& orders_;
    BookControl& books_;
    const Publish publish_;
    const WarmUp warm_up_;
    std::map<std::string, Entry, std::less<>> entries_;
    bool is_shared_ = false;
    uint32_t slots_used_ = 0;
    uint64_t catalogues_made_ = 0;
    Uptime retry_at_{};  // after a tick that failed

    std::mutex newest_mutex_;   // held while it is published: whoever comes next comes behind
    NumberedCatalogue newest_;  // guarded by newest_mutex_; of those that were published
};

}  // namespace doorbuster
