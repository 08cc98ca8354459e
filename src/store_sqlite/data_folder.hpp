// DataFolder: the folder of one embedded store, held by one process for life.
#pragma once

#include <string>

#include "store/errors.hpp"

namespace doorbuster {

class DataFolder {
public:
    // Makes the folder where it is missing and takes its lock. in_use names the process
    // that has it. The lock goes with the process, however that ends.
    [[nodiscard]] static StoreResult<DataFolder> hold(const std::string& path);

    DataFolder(DataFolder&& other) noexcept;
    DataFolder& operator=(DataFolder&&) = delete;
    ~DataFolder();

    std::string ledger_path() const { return path_ + "/ledger.db"; }
    std::string orders_path() const { return path_ + "/orders.db"; }

private:
    DataFolder(std::string path, int lock) : path_(std::move(path)), lock_(lock) {}

    std::string path_;
    int lock_;
};

}  // namespace doorbuster
