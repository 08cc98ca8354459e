// Faults: the ways in which the sandbox provider misbehaves, each on its own switch.
//
// Every one of them has been seen at a real provider. A merchant that survives all of them at
// once, over thousands of payments, keeps money and goods together.
//
// Thread safety: values.
#pragma once

#include <bitset>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace doorbuster::sandbox {

enum class Fault : uint8_t {
    delayed,              // webhooks 50 to 2000 ms late, answers up to 300 ms
    repeated,             // webhooks two or three times
    reordered,            // webhooks held back and sent after later ones
    lost,                 // webhooks never sent (30%), answers lost after the effect (10%)
    forged,               // extra webhooks: signed by another, or too old; both lie
    underpaid,            // captures of one minor unit less (20%)
    wrong_currency,       // captures in another currency (20%)
    captured_after_void,  // voids that are confirmed and captured later all the same (15%)
    unreachable,          // 503 in place of an answer, without the effect (20%)
};
constexpr size_t faults_count = 9;

class FaultSet {
public:
    bool has(Fault fault) const { return set_.test(static_cast<size_t>(fault)); }
    void add(Fault fault) { set_.set(static_cast<size_t>(fault)); }

    std::vector<std::string_view> words() const;

    // "lost,forged", "all", "none" or nothing. The error names the word that is none.
    [[nodiscard]] static Result<FaultSet, std::string> parse(std::string_view list);

    friend bool operator==(const FaultSet&, const FaultSet&) = default;

private:
    std::bitset<faults_count> set_;
};

}  // namespace doorbuster::sandbox
