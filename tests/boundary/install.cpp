// Puts the crashing file layer under a program whose main() knows nothing of it: what
// crashes is the product, linked once more.
#include "boundary/crash_vfs.hpp"

namespace {

[[maybe_unused]] const bool installed = [] {
    const auto plan = doorbuster::boundary::plan_from_environment();
    if (plan) doorbuster::boundary::install_crash_vfs(*plan);
    return plan.has_value();
}();

}  // namespace
