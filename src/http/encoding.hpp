// Which of the encodings that a page is kept in a client likes best.
#pragma once

#include <cstdint>
#include <string_view>

namespace doorbuster {

enum class Encoding : uint8_t { plain, gzip, brotli };

// By the highest q value; of equals the one that makes the page smallest. Plain where none of them is
// named, and where every one is refused: a page that cannot be wanted is still better than none.
Encoding choose_encoding(std::string_view accept_encoding, bool offers_brotli);

}  // namespace doorbuster
