// Journal: what the sandbox provider must still know after its own restart.
//
// A file with one line of JSON per change of a payment; the last line of a key counts. Nothing
// is synced to disk: it outlives the process, not the machine.
//
// Thread safety: none.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "sandbox/payment.hpp"

namespace doorbuster::sandbox {

std::string journal_line(const Payment&);  // without the end of the line
std::optional<Payment> parse_journal_line(std::string_view line);

class Journal {
public:
    // Reads what is there, oldest first, and goes on behind it. A last line without its end is
    // what a killed process leaves: it was never answered for, and is cut off.
    [[nodiscard]] static Result<Journal, std::string> open(
        const std::string& path, const std::function<void(const Payment&)>& restore);

    Journal(Journal&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
    Journal(const Journal&) = delete;
    Journal& operator=(const Journal&) = delete;
    ~Journal();

    // After a failure the file may end in half a line: the process must end too.
    [[nodiscard]] Result<void, std::string> append(const Payment&);

private:
    explicit Journal(int file) : file_(file) {}
    int file_;
};

}  // namespace doorbuster::sandbox
