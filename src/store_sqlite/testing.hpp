// A folder that goes with the test.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/check.hpp"

namespace doorbuster::testing {

class TemporaryFolder {
public:
    TemporaryFolder() {
        std::string pattern = (std::filesystem::temp_directory_path() / "doorbuster-test-XXXXXX").string();
        CHECK(mkdtemp(pattern.data()) != nullptr);
        path_ = pattern;
    }
    ~TemporaryFolder() { std::filesystem::remove_all(path_); }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    std::string path(const std::string& name = "") const { return name.empty() ? path_ : path_ + "/" + name; }

private:
    std::string path_;
};

}  // namespace doorbuster::testing
