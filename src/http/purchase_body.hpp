// PurchaseBody: what a buyer asks for, read from the request without allocating.
//
//   {"item":"phone","quantity":1,"token":"AgAB…"}
//
// Closed: a field that is not known is a fault, so that nobody believes that a price
// or a status in the body counts.
#pragma once

#include <algorithm>
#include <array>
#include <boost/container/static_vector.hpp>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "sale/ids.hpp"
#include "sale/sale.hpp"

namespace doorbuster {

// Text of at most so many bytes, kept in place.
template <size_t BytesMax>
class BoundedText {
public:
    // Cut at the bound.
    void add(std::string_view part) {
        const size_t taken = std::min(part.size(), BytesMax - size_);
        std::copy_n(part.data(), taken, bytes_.data() + size_);
        size_ += taken;
        overlong_ = overlong_ || taken < part.size();
    }
    void clear() {
        size_ = 0;
        overlong_ = false;
    }
    std::string_view view() const { return {bytes_.data(), size_}; }
    bool overlong() const { return overlong_; }

private:
    std::array<char, BytesMax> bytes_;
    size_t size_ = 0;
    bool overlong_ = false;
};

// One thing that is wrong with it, not yet in words: who sends too many of them never hears those.
struct PurchaseFault {
    enum class Kind : uint8_t { no_object, no_item, item_type, quantity, token_type, unknown_field };

    Kind kind;
    BoundedText<64> name = {};  // the unknown field's, perhaps cut inside a character
};

constexpr size_t purchase_faults_max = 8;  // nobody reads on

struct PurchaseBody {
    ItemId item;  // empty where there is none, or one that no item can have
    uint32_t quantity = 1;
    bool has_token = false;
    // Longer than a token can be: empty, and so no token of ours.
    BoundedText<256> token;
    // What makes it 422, the first of them; empty if it can be asked for.
    boost::container::static_vector<PurchaseFault, purchase_faults_max> faults;
};

// Nothing for text that is no JSON, is nested too deep or names a field twice: 400. It is read no further
// than to the last fault that is told.
std::optional<PurchaseBody> read_purchase_body(std::string_view text);

// In words, for the answer.
std::vector<Fault> faults_of(const PurchaseBody&);

}  // namespace doorbuster
