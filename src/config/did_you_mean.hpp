// "did you mean": the known word that a mistyped one most likely stands for.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace doorbuster {

// Letters to insert, remove, replace or swap with their neighbour.
size_t edit_distance(std::string_view a, std::string_view b);

// ": did you mean 'x'?", or nothing where no word is near enough to be meant.
std::string did_you_mean(std::string_view typed, std::span<const std::string> known);

}  // namespace doorbuster
