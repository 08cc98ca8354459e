// Files of block and allow lists, and single entries as the operator's calls name them.
//
// What is taken can be written down and read again, and says the same about everybody.
#include <string>

#include "base/check.hpp"
#include "funnel/risk_lists.hpp"
#include "http/list_path.hpp"

namespace doorbuster {
namespace {

void lists(const std::string& text) {
    const auto entries = parse_lists(text);
    if (!entries) {
        CHECK(!entries.error().empty() && entries.error().size() <= 101);
        return;
    }
    std::string written;
    for (const ListEntry& entry : *entries) {
        CHECK(entry.standing != Standing::neutral);
        written += entry.line() + '\n';
    }
    const auto again = parse_lists(written);
    CHECK(again && again->size() == entries->size());
    const RiskLists before(*entries), after(*again);
    for (const ListEntry& entry : *entries) {
        if (const auto* range = std::get_if<AddressRange>(&entry.who)) {
            CHECK(before.of(range->first) == after.of(range->first));
            CHECK(before.of(range->last) != Standing::neutral);
            CHECK(range->contains(range->first) && range->contains(range->last));
        } else {
            const BuyerId& buyer = std::get<BuyerId>(entry.who);
            CHECK(before.of(buyer) == after.of(buyer) && before.of(buyer) != Standing::neutral);
        }
    }
}

void fuzz(const std::string& text) {
    lists(text);
    if (const auto entry = entry_in(std::string(lists_path) + "/block/" + text)) {
        CHECK(entry->standing == Standing::blocked);
        CHECK(ListEntry::from(entry->list(), entry->kind(), entry->value())->line() == entry->line());
    }
    if (const auto address = Address::parse(text)) CHECK(*Address::parse(address->text()) == *address);
}

}  // namespace
}  // namespace doorbuster

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    doorbuster::fuzz(std::string(reinterpret_cast<const char*>(data), size));
    return 0;
}
