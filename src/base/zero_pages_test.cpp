#include "base/zero_pages.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

namespace doorbuster {
namespace {

size_t pages_in_memory(const ZeroPages& pages, size_t bytes) {
    std::vector<unsigned char> present(bytes / static_cast<size_t>(::getpagesize()));
    EXPECT_EQ(::mincore(pages.data(), bytes, present.data()), 0);
    return static_cast<size_t>(
        std::count_if(present.begin(), present.end(), [](unsigned char page) { return page & 1; }));
}

TEST(ZeroPages, CostNothingUntilTheyAreTouchedOrPopulatedAndKeepWhatIsThere) {
    for (const size_t bytes : {size_t{1} << 16, size_t{5} << 20}) {
        ZeroPages pages(bytes);
        auto* const words = static_cast<char*>(pages.data());
        EXPECT_EQ(pages_in_memory(pages, bytes), 0u);
        words[bytes - 1] = 7;
        pages.populate();
        EXPECT_EQ(pages_in_memory(pages, bytes), bytes / static_cast<size_t>(::getpagesize()));
        EXPECT_EQ(words[bytes - 1], 7);
        EXPECT_EQ(words[0], 0);
    }
}

}  // namespace
}  // namespace doorbuster
