// The ledger in ledger.db: one transaction per batch, durable at COMMIT.
#pragma once

#include <memory>
#include <string>

#include "store/ledger.hpp"
#include "store_sqlite/sqlite.hpp"

namespace doorbuster {

class SqliteLedgerReader final : public LedgerReader {
public:
    [[nodiscard]] static StoreResult<std::unique_ptr<SqliteLedgerReader>> open(const std::string& path);

    StoreResult<std::vector<LedgerRecord>> read_after(uint64_t position, size_t count_max) override;
    StoreResult<std::optional<LedgerRecord>> find(const PurchaseId&) override;

private:
    explicit SqliteLedgerReader(const std::string& path);

    sqlite::Connection connection_;
    sqlite::Statement after_, by_purchase_;
};

class SqliteLedger final : public Ledger {
public:
    // Creates or migrates the database.
    [[nodiscard]] static StoreResult<std::unique_ptr<SqliteLedger>> open(const std::string& path);

    StoreResult<void> append(std::span<const LedgerEntry>) override;
    StoreResult<void> idle() override;

private:
    explicit SqliteLedger(const std::string& path);

    sqlite::Connection connection_;
    std::unique_ptr<sqlite::Statement> insert_;
    std::optional<StoreError> upkeep_failure_;  // told at the next call
    bool failed_ = false;
};

}  // namespace doorbuster
