#include "config/did_you_mean.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace doorbuster {
namespace {

const std::vector<std::string> known{"server.listen", "server.threads", "store.path", "admin.listen"};

TEST(DidYouMean, CountsInsertionsRemovalsReplacementsAndSwaps) {
    EXPECT_EQ(edit_distance("", "abc"), 3u);
    EXPECT_EQ(edit_distance("listen", "listen"), 0u);
    EXPECT_EQ(edit_distance("lisen", "listen"), 1u);
    EXPECT_EQ(edit_distance("litsen", "listen"), 1u);
    EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
}

TEST(DidYouMean, ProposesTheNearestWord) {
    EXPECT_EQ(did_you_mean("serve.listen", known), ": did you mean 'server.listen'?");
    EXPECT_EQ(did_you_mean("server.thread", known), ": did you mean 'server.threads'?");
}

TEST(DidYouMean, StaysSilentWhereNothingIsNear) {
    EXPECT_EQ(did_you_mean("colour", known), "");
    EXPECT_EQ(did_you_mean("x", known), "");
    EXPECT_EQ(did_you_mean(std::string(100'000, 'x'), known), "");
}

}  // namespace
}  // namespace doorbuster
