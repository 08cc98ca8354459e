#include "server/key_keeper.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "funnel/shop_key_testing.hpp"

namespace doorbuster {
namespace {

using namespace std::chrono_literals;
using testing::ShopKey;

const ShopKey old_key(KeyAlgorithm::es256, "2026"), new_key(KeyAlgorithm::eddsa, "2027"),
    other_key(KeyAlgorithm::hs256, "other");

std::string set_of(std::initializer_list<ShopKey> keys) {
    std::string set;
    for (const ShopKey& key : keys) set += (set.empty() ? "" : ",") + key.jwk();
    return R"({"keys":[)" + set + "]}";
}

class KeyKeeperTest : public ::testing::Test {
protected:
    KeyKeeperTest() {
        std::string pattern = (std::filesystem::temp_directory_path() / "doorbuster-keys-XXXXXX").string();
        folder_ = ::mkdtemp(pattern.data());
        file_ = folder_ / "keys.json";
    }
    ~KeyKeeperTest() override { std::filesystem::remove_all(folder_); }

    // As careful tools do it: never half a file.
    void write(const std::string& text) const {
        const auto fresh = folder_ / "fresh";
        std::ofstream(fresh) << text;
        std::filesystem::rename(fresh, file_);
    }

    KeyKeeper keeper(KeySources sources, KeyRing own = {}) {
        return KeyKeeper(
            std::move(sources), std::move(own),
            [this](const std::string& asked) {
                asked_for_.push_back(asked);
                return answer_;
            },
            7);
    }
    KeyKeeper of_file() { return keeper({.file = file_.string()}); }
    KeyKeeper of_url() { return keeper({.url = url, .refresh = 300s}); }

    void answer(const std::string& text) { answer_ = {boost::system::in_place_value, text}; }
    void fail(const std::string& error) { answer_ = {boost::system::in_place_error, error}; }

    static std::vector<std::string> kids(const KeyKeeper& keeper) {
        std::vector<std::string> names;
        for (const Key& key : keeper.keys()->keys()) names.push_back(key.kid());
        return names;
    }

    using Kids = std::vector<std::string>;
    const std::string url = "https://shop.example/keys";
    std::filesystem::path folder_, file_;
    Result<std::string, std::string> answer_{boost::system::in_place_error, "no answer was prepared"};
    std::vector<std::string> asked_for_;
};

TEST_F(KeyKeeperTest, WithoutSourcesKeepsItsOwnKeys) {
    KeyKeeper keys = keeper({}, *testing::ring_of({old_key}));
    EXPECT_TRUE(keys.load(0s).has_value());
    EXPECT_FALSE(keys.look(1s).changed);
    EXPECT_EQ(kids(keys), Kids{"2026"});
    EXPECT_TRUE(asked_for_.empty());
}

TEST_F(KeyKeeperTest, FollowsTheFile) {
    write(set_of({old_key}));
    KeyKeeper keys = of_file();
    ASSERT_TRUE(keys.load(0s).has_value());
    EXPECT_EQ(kids(keys), Kids{"2026"});
    EXPECT_FALSE(keys.look(1s).changed);

    write(set_of({old_key, new_key}));
    const auto both = keys.look(2s);
    ASSERT_TRUE(both.changed);
    EXPECT_EQ(both.changed->keys().size(), 2u);
    EXPECT_EQ(both.changed, keys.keys());

    write(set_of({new_key}));
    EXPECT_TRUE(keys.look(3s).changed);
    EXPECT_EQ(kids(keys), Kids{"2027"});
}

TEST_F(KeyKeeperTest, DoesNotBeginWithAFileThatItCannotUse) {
    EXPECT_EQ(of_file().load(0s).error(), "No such file or directory");
    write("{}");
    EXPECT_EQ(of_file().load(0s).error(), R"(the key set has no "keys" array)");
}

TEST_F(KeyKeeperTest, KeepsTheOldKeysOfAFileThatWentBad) {
    write(set_of({old_key}));
    KeyKeeper keys = of_file();
    ASSERT_TRUE(keys.load(0s).has_value());
    std::filesystem::remove(file_);
    EXPECT_FALSE(keys.look(1s).changed);
    write(set_of({new_key}).substr(0, 20));
    EXPECT_FALSE(keys.look(2s).changed);
    EXPECT_EQ(kids(keys), Kids{"2026"});
    write(set_of({new_key}));
    EXPECT_TRUE(keys.look(3s).changed);
    EXPECT_EQ(kids(keys), Kids{"2027"});
}

TEST_F(KeyKeeperTest, TellsEachChangeOfOutcomeOnce) {
    write(set_of({old_key}));
    KeyKeeper keys = of_file();
    EXPECT_EQ(keys.load(0s)->news.size(), 1u);
    EXPECT_TRUE(keys.look(1s).news.empty());
    std::filesystem::remove(file_);
    const auto gone = keys.look(2s);
    ASSERT_EQ(gone.news.size(), 1u);
    EXPECT_EQ(gone.news[0].source, "identity.keys_file");
    EXPECT_EQ(gone.news[0].error, "No such file or directory");
    EXPECT_EQ(gone.news[0].keys, 1u) << "they stay in force";
    EXPECT_TRUE(keys.look(3s).news.empty());
    write("[]");
    EXPECT_EQ(keys.look(4s).news.size(), 1u) << "another error";
    EXPECT_TRUE(keys.look(5s).news.empty());
    write(set_of({old_key}));
    const auto back = keys.look(6s);
    ASSERT_EQ(back.news.size(), 1u);
    EXPECT_EQ(back.news[0].error, "");
    EXPECT_FALSE(back.changed) << "they are the same keys";
}

TEST_F(KeyKeeperTest, FetchesTheUrlOncePerRefresh) {
    answer(set_of({old_key}));
    KeyKeeper keys = of_url();
    ASSERT_TRUE(keys.load(0s).has_value());
    EXPECT_EQ(kids(keys), Kids{"2026"});
    (void)keys.look(1s);
    (void)keys.look(269s);
    EXPECT_EQ(asked_for_, Kids{url});
    answer(set_of({new_key}));
    EXPECT_TRUE(keys.look(300s).changed);
    EXPECT_EQ(kids(keys), Kids{"2027"});
    EXPECT_EQ(asked_for_.size(), 2u);
}

TEST_F(KeyKeeperTest, BeginsWithoutAUrlThatIsAway) {
    fail("connection refused");
    KeyKeeper keys = of_url();
    const auto first = keys.load(0s);
    ASSERT_TRUE(first.has_value());
    EXPECT_EQ(first->news.front().error, "connection refused");
    EXPECT_TRUE(keys.keys()->empty());
    answer(set_of({old_key}));
    EXPECT_TRUE(keys.look(1s).changed);
}

TEST_F(KeyKeeperTest, AsksAUrlThatFailsLessAndLessOften) {
    fail("connection refused");
    KeyKeeper keys = of_url();
    ASSERT_TRUE(keys.load(0s).has_value());
    std::vector<int> asked_at;
    for (int second = 1; second <= 3000; ++second) {
        const size_t before = asked_for_.size();
        (void)keys.look(std::chrono::seconds(second));
        if (asked_for_.size() > before) asked_at.push_back(second);
    }
    // 1 + 2 + 4 + … s, each at least half of it; then every 150 to 300 s.
    ASSERT_GE(asked_at.size(), 3000u / 301 + 6);
    ASSERT_LE(asked_at.size(), 3000u / 150 + 10);
    for (size_t i = 1; i < asked_at.size(); ++i) {
        const int expected_max = std::min(300, 1 << std::min<size_t>(i, 20));
        EXPECT_LE(asked_at[i] - asked_at[i - 1], expected_max + 1) << i;
        EXPECT_GE(asked_at[i] - asked_at[i - 1], expected_max / 2) << i;
    }
}

TEST_F(KeyKeeperTest, KeepsTheOldKeysOfAUrlThatFails) {
    answer(set_of({old_key}));
    KeyKeeper keys = of_url();
    ASSERT_TRUE(keys.load(0s).has_value());
    fail("timeout");
    EXPECT_FALSE(keys.look(300s).changed);
    answer("<html>");
    EXPECT_FALSE(keys.look(400s).changed);
    EXPECT_EQ(kids(keys), Kids{"2026"});
}

TEST_F(KeyKeeperTest, JoinsItsOwnKeysTheFilesAndTheUrls) {
    write(set_of({old_key}));
    answer(set_of({new_key}));
    KeyKeeper keys = keeper({.file = file_.string(), .url = url}, *testing::ring_of({other_key}));
    ASSERT_TRUE(keys.load(0s).has_value());
    EXPECT_EQ(keys.keys()->keys().size(), 3u);
    write(set_of({new_key}));
    const auto clash = keys.look(1s);
    EXPECT_FALSE(clash.changed);
    EXPECT_EQ(clash.news.front().error, "two keys have the kid \"2027\"");
    EXPECT_EQ(keys.keys()->keys().size(), 3u);
    // The file has not changed since, but what stood in its way has.
    answer(set_of({ShopKey(KeyAlgorithm::es256, "2028")}));
    EXPECT_TRUE(keys.look(300s).changed);
    EXPECT_TRUE(keys.look(301s).changed);
    EXPECT_EQ(kids(keys), (Kids{"other", "2027", "2028"}));
}

}  // namespace
}  // namespace doorbuster
