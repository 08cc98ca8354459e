// RiskDesk: what the file and the operator say about addresses and buyers, together.
//
// The operator's entries are durable before they count, and answered when every gate of this
// process knows them: whoever heard "blocked" knows that nobody gets in here any more. The
// operator's newest word about a range or buyer replaces the one before; between the file and the
// operator, a block counts more than an allowance.
//
// On the cluster the operator's entries are those of all processes. A change is made to what is
// kept then, not to what was read once, so of two operators neither undoes the other; `look` brings
// what others changed. While the settings cannot be read, the lists stay as they were.
//
// Bounded: RiskLists::entries_max of both together; the entry or file beyond it is refused. Each
// change costs a pass over all entries: many at once belong in the file.
//
// Thread safety: none; it lives on the orders thread. `Done` may be called on any.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "funnel/risk_lists.hpp"
#include "store/settings.hpp"

namespace doorbuster {

class RiskDesk {
public:
    // Calls `shown` when every gate has the lists.
    using Publish = std::function<void(std::shared_ptr<const RiskLists>, std::function<void()> shown)>;
    using Done = std::function<void(StoreResult<void>)>;

    RiskDesk(Settings& settings, Publish publish) : settings_(settings), publish_(std::move(publish)) {}

    // The operator's entries, as they were left; publishes them.
    [[nodiscard]] StoreResult<void> load();

    // What another process has changed since, if anything; publishes it.
    [[nodiscard]] StoreResult<void> look();

    // In place of the file's entries so far. False, and they stay, if there are too many.
    [[nodiscard]] bool set_file_entries(std::vector<ListEntry> entries);

    // Errors: not_allowed (no room).
    void put(const ListEntry& entry, Done done);

    // Errors: not_found; not_allowed (it is in the file, and only there can it be
    // removed).
    void remove(const ListEntry& entry, Done done);

    struct Listed {
        const ListEntry& entry;
        bool from_file;
    };
    // The file's first, in its order; an entry that both name is visited twice.
    void each(const std::function<void(const Listed&)>& visit) const;

private:
    // By kind and value, so that a later word about it finds the earlier one.
    using Entries = std::map<std::string, ListEntry>;
    using Edit = std::function<StoreResult<void>(Entries&)>;

    static std::string key_of(const ListEntry& entry);
    [[nodiscard]] StoreResult<void> take_over(const std::string& text);
    [[nodiscard]] StoreResult<void> change(const Edit& edit);
    void publish(std::function<void()> shown) const;

    Settings& settings_;
    const Publish publish_;
    Entries by_operator_;
    std::optional<Digest> kept_;  // of the text that these are kept as; none: nothing was ever kept
    std::vector<ListEntry> in_file_;
};

}  // namespace doorbuster
