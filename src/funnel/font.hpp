// The font of the picture checks, compiled in: DejaVu Sans Bold, a free font.
#pragma once

#include <cstdint>
#include <span>

namespace doorbuster {

std::span<const uint8_t> picture_font();

}  // namespace doorbuster
