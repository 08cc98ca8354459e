// The text of conf/doorbuster.toml: every option with its default and its trade-off.
#pragma once

#include <string>

namespace doorbuster {

std::string reference_toml();

}  // namespace doorbuster
