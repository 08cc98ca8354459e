// BooksRebuild: the operator's word that the books of a sale are to be loaded anew, where they live outside
// of this process.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sale/ids.hpp"
#include "store/errors.hpp"

namespace doorbuster {

// From which loading of its book an item is sold.
struct BookEpoch {
    ItemId item;
    uint64_t epoch = 0;    // only rises
    bool is_open = false;  // false: it is being rebuilt, or was never loaded
};

// Thread safety: none; it is used on the orders thread.
class BooksRebuild {
public:
    virtual ~BooksRebuild() = default;

    // Asks that the epochs which these items have now end, and answers with them; somebody else acts on it.
    // Asked again under the same epoch it changes nothing. not_found.
    [[nodiscard]] virtual StoreResult<std::vector<BookEpoch>> ask(const SaleId&, std::span<const ItemId>,
                                                                  const std::string& reason) = 0;

    // Of every item of the sale.
    [[nodiscard]] virtual StoreResult<std::vector<BookEpoch>> epochs(const SaleId&) = 0;
};

}  // namespace doorbuster
