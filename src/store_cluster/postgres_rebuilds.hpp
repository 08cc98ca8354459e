// PostgresRebuilds: the operator's word that books are to be rebuilt, as a row that a coordinator acts on.
//
// Thread safety: none, like its connection.
#pragma once

#include "store/books_rebuild.hpp"
#include "store_cluster/postgres_epochs.hpp"

namespace doorbuster {

class PostgresRebuilds final : public BooksRebuild {
public:
    explicit PostgresRebuilds(pg::Connection& connection) : epochs_(connection) {}

    StoreResult<std::vector<BookEpoch>> ask(const SaleId&, std::span<const ItemId>,
                                            const std::string& reason) override;
    StoreResult<std::vector<BookEpoch>> epochs(const SaleId&) override;

private:
    PostgresEpochs epochs_;
};

}  // namespace doorbuster
