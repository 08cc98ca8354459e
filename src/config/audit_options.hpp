// The options of the audit.
#pragma once

#include "config/option.hpp"

namespace doorbuster {

struct AuditOptions : OptionGroup {
    using OptionGroup::OptionGroup;

    Option<uint32_t> every_s{
        *this,
        "every_s",
        300,
        {.min = 1, .max = 86'400},
        "How often each sale that sells or is closed is recounted from its records. More often finds a "
        "difference sooner; each time reads all records of the sale, beside it, on a thread of its own, and "
        "takes about 2.5 KiB of memory per acceptance until it is done. Every difference is counted; the "
        "first 10,000 are kept with their ids."};
};

}  // namespace doorbuster
