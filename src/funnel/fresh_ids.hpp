// FreshIds: names for purchases whose buyers brought none. Random bytes, fetched for many at
// a time.
//
// Thread safety: none.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

#include "base/crypto.hpp"
#include "sale/ids.hpp"

namespace doorbuster {

class FreshIds {
public:
    PurchaseId next() {
        if (used_ == bytes_.size()) {
            fill_random(bytes_);
            used_ = 0;
        }
        PurchaseId id;
        std::memcpy(id.bytes.data(), bytes_.data() + used_, id.bytes.size());
        used_ += id.bytes.size();
        return id;
    }

private:
    std::array<uint8_t, 16 * 256> bytes_;
    size_t used_ = 16 * 256;
};

}  // namespace doorbuster
