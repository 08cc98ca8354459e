// Where one answer ends in a stream of bytes, and what its status is.
//
// Reads as little as a generator needs: the status and Content-Length. An answer
// without a Content-Length, or in chunks, is not understood; no purchase gets one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace doorbuster::load {

struct AnswerHead {
    int status = 0;
    size_t size = 0;  // of the whole answer, body included
};

enum class HeadFound : uint8_t { more_needed, complete, malformed };

// `bytes` begins with an answer; the body may still be on its way.
[[nodiscard]] HeadFound read_answer_head(std::string_view bytes, AnswerHead& head);

}  // namespace doorbuster::load
