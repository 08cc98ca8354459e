// What the orders side sends to the owner thread; beside the purchases, so that those stay small.
#pragma once

#include <functional>

#include "store/book_control.hpp"

namespace doorbuster {

struct ReinstateCommand {
    Reinstatement asked;
    std::function<void(const Reinstated&)> answered;
};

}  // namespace doorbuster
