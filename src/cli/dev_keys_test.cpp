#include "cli/dev_keys.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "config/load.hpp"
#include "config/secrets.hpp"

namespace doorbuster {
namespace {

class DevKeys : public testing::Test {
protected:
    void SetUp() override {
        std::string name = std::filesystem::temp_directory_path() / "doorbuster-dev-XXXXXX";
        ASSERT_NE(mkdtemp(name.data()), nullptr);
        folder_ = name;
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }

    Config config(Environment environment = {}) {
        environment["DOORBUSTER_STORE__PATH"] = folder_ / "data";
        const auto loaded = load_config(
            {.file = std::nullopt, .files_looked_for = {}, .environment = environment, .flags = {}});
        return *loaded;
    }

    std::filesystem::path folder_;
};

TEST_F(DevKeys, AreMadeOnceAndReused) {
    Config first = config(), second = config();
    ASSERT_TRUE(prepare_dev_keys(first));
    EXPECT_TRUE(secrets_check(first).empty());
    EXPECT_NE(first.admin.key.value(), first.identity.hmac_secret.value());
    ASSERT_TRUE(prepare_dev_keys(second));
    EXPECT_EQ(first.admin.key.value(), second.admin.key.value());
    EXPECT_EQ(first.identity.hmac_secret.value(), second.identity.hmac_secret.value());
}

TEST_F(DevKeys, AreReadableByTheirOwnerOnly) {
    Config dev = config();
    ASSERT_TRUE(prepare_dev_keys(dev));
    struct stat status {};
    ASSERT_EQ(stat(dev_keys_file(dev).c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777u, 0600u);
}

TEST_F(DevKeys, AreAConfigurationThatAClientCanRead) {
    Config dev = config({{"DOORBUSTER_ADMIN__LISTEN", "127.0.0.1:7000"}});
    ASSERT_TRUE(prepare_dev_keys(dev));
    const auto client =
        load_config({.file = dev_keys_file(dev), .files_looked_for = {}, .environment = {}, .flags = {}});
    ASSERT_TRUE(client);
    EXPECT_EQ(client->admin.listen.value(), "127.0.0.1:7000");
    EXPECT_EQ(client->admin.key.value(), dev.admin.key.value());
}

TEST_F(DevKeys, TheAddressesAreThoseOfTheLastStart) {
    Config first = config(), client = config();
    ASSERT_TRUE(prepare_dev_keys(first));
    ASSERT_TRUE(record_dev_start(first, {"127.0.0.1:7001", "127.0.0.1:7002"}));
    ASSERT_TRUE(borrow_dev_keys(client));
    EXPECT_EQ(client.server.listen.value(), "127.0.0.1:7001");
    EXPECT_EQ(client.admin.listen.value(), "127.0.0.1:7002");
    EXPECT_EQ(client.admin.key.value(), first.admin.key.value());
}

TEST_F(DevKeys, ASecondStartLeavesThoseOfTheFirstAlone) {
    Config first = config(), client = config();
    ASSERT_TRUE(prepare_dev_keys(first));
    ASSERT_TRUE(record_dev_start(first, {"127.0.0.1:7001", "127.0.0.1:7002"}));
    Config second = config({{"DOORBUSTER_ADMIN__LISTEN", "127.0.0.1:8002"},
                            {"DOORBUSTER_ADMIN__KEY", "given-given-given-given-given-given"}});
    ASSERT_TRUE(prepare_dev_keys(second));
    ASSERT_TRUE(borrow_dev_keys(client));
    EXPECT_EQ(client.admin.listen.value(), "127.0.0.1:7002");
    EXPECT_EQ(client.admin.key.value(), first.admin.key.value());
}

TEST_F(DevKeys, AClientTakesOnlyWhatNoSourceGave) {
    Config dev = config();
    ASSERT_TRUE(prepare_dev_keys(dev));
    Config client = config({{"DOORBUSTER_ADMIN__LISTEN", "127.0.0.1:7000"}});
    ASSERT_TRUE(borrow_dev_keys(client));
    EXPECT_EQ(client.admin.listen.value(), "127.0.0.1:7000");
    EXPECT_EQ(client.admin.key.value(), dev.admin.key.value());
    EXPECT_NE(client.admin.key.origin().where.find("dev.toml:"), std::string::npos);
}

TEST_F(DevKeys, AClientOfAServerWithKeysOfItsOwnTakesNothing) {
    Config dev = config(), client = config();
    ASSERT_TRUE(prepare_dev_keys(dev));
    const std::string own = "own-own-own-own-own-own-own-own-own";
    ASSERT_FALSE(client.find("admin.key")->set(PlainText{own}, {Source::file, "doorbuster.toml:2"}));
    ASSERT_TRUE(borrow_dev_keys(client));
    EXPECT_EQ(client.admin.key.value(), own);
    EXPECT_EQ(client.identity.hmac_secret.value(), "");
}

TEST_F(DevKeys, AGivenKeyWins) {
    const std::string given = "given-given-given-given-given-given";
    Config dev = config({{"DOORBUSTER_ADMIN__KEY", given}});
    ASSERT_TRUE(prepare_dev_keys(dev));
    EXPECT_EQ(dev.admin.key.value(), given);
}

TEST_F(DevKeys, ABrokenFileIsToldNotReplaced) {
    Config dev = config();
    std::filesystem::create_directories(folder_ / "data");
    std::ofstream(dev_keys_file(dev)) << "[admin\n";
    const auto prepared = prepare_dev_keys(dev);
    ASSERT_FALSE(prepared);
    EXPECT_NE(prepared.error().find("dev.toml:1"), std::string::npos) << prepared.error();
}

}  // namespace
}  // namespace doorbuster
