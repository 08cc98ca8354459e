// FileWatch: reads a file, and reads it again when it was changed.
//
// By looking at it now and then: times, size and inode of the file that the path leads to, so
// that a link swapped by a deployment counts as well. A file that is caught half-written has
// another time or size at the next look, and is read again then.
//
// Thread safety: none.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "base/result.hpp"

namespace doorbuster {

class FileWatch {
public:
    static constexpr size_t bytes_max = 32 << 20;  // the bound of what is read; beyond it an error

    // An empty path is no file: its text is empty and never changes.
    explicit FileWatch(std::string path) : path_(std::move(path)) {}

    // Its text as it is now. The error says why not, without the path.
    [[nodiscard]] Result<std::string, std::string> read();

    // Nothing if it is as it was at the last read or look; else its text, or why it cannot be read.
    // What could not be read is tried again at every look, and told again only for another reason.
    [[nodiscard]] std::optional<Result<std::string, std::string>> look();

    const std::string& path() const { return path_; }

private:
    struct Seen {
        int64_t modified_s = 0, modified_ns = 0, changed_s = 0, changed_ns = 0, bytes = 0;
        uint64_t device = 0, inode = 0;
        friend bool operator==(const Seen&, const Seen&) = default;
    };

    std::optional<Seen> stat() const;

    const std::string path_;
    std::optional<Seen> seen_;  // none: it was not there
    std::string failure_;       // of the last read; empty: none
};

}  // namespace doorbuster
