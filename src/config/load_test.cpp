#include "config/load.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace doorbuster {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const std::string key32 = "0123456789abcdef0123456789abcdef";

class LoadConfig : public testing::Test {
protected:
    std::string write(const std::string& name, const std::string& text) {
        const std::string path = folder_ / name;
        std::ofstream(path) << text;
        return path;
    }

    Config loaded() {
        const auto result = load_config(sources_);
        if (result) return *result;
        for (const ConfigFault& fault : result.error()) ADD_FAILURE() << fault.text;
        return {};
    }

    std::vector<std::string> faults() {
        const auto result = load_config(sources_);
        std::vector<std::string> texts;
        if (!result) {
            for (const ConfigFault& fault : result.error()) texts.push_back(fault.text);
        }
        return texts;
    }

    void SetUp() override {
        std::string name = std::filesystem::temp_directory_path() / "doorbuster-config-XXXXXX";
        ASSERT_NE(mkdtemp(name.data()), nullptr);
        folder_ = name;
        sources_.files_looked_for.clear();
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }

    std::filesystem::path folder_;
    ConfigSources sources_;
};

TEST_F(LoadConfig, WithoutSourcesEveryOptionHasItsDefault) {
    const Config config = loaded();
    EXPECT_EQ(config.server.listen.value(), "127.0.0.1:8080");
    EXPECT_EQ(config.shard.queue_capacity, 16384u);
    EXPECT_FALSE(config.server.pin_threads);
    for (const AnyOption* option : config.options()) EXPECT_EQ(option->origin().source, Source::built_in);
}

TEST_F(LoadConfig, AFlagWinsOverTheEnvironmentOverTheFileOverTheDefault) {
    sources_.file =
        write("a.toml", "[server]\nthreads = 2\nlisten = \"127.0.0.1:1\"\nbody_bytes_max = 2048\n");
    sources_.environment = {{"DOORBUSTER_SERVER__THREADS", "3"},
                            {"DOORBUSTER_SERVER__LISTEN", "127.0.0.1:2"}};
    sources_.flags = {{"server.threads", "4", "--threads"}};
    const Config config = loaded();
    EXPECT_EQ(config.server.threads, 4u);
    EXPECT_EQ(config.server.listen.value(), "127.0.0.1:2");
    EXPECT_EQ(config.server.body_bytes_max, 2048u);
    EXPECT_EQ(config.server.header_fields_max, 100u);
}

TEST_F(LoadConfig, EveryValueRemembersWhereItCameFrom) {
    sources_.file = write("a.toml", "[server]\nbody_bytes_max = 2048\n");
    sources_.environment = {{"DOORBUSTER_SERVER__LISTEN", "127.0.0.1:2"}};
    sources_.flags = {{"server.threads", "4", "--threads"}};
    const Config config = loaded();
    EXPECT_EQ(config.file, *sources_.file);
    EXPECT_EQ(config.server.body_bytes_max.origin().where, *sources_.file + ":2");
    EXPECT_EQ(config.server.listen.origin().where, "DOORBUSTER_SERVER__LISTEN");
    EXPECT_EQ(config.server.threads.origin().where, "--threads");
}

TEST_F(LoadConfig, TheFileIsTheFlagsThenTheEnvironmentsThenTheFirstThatExists) {
    const std::string first = write("first.toml", "[server]\nthreads = 1\n");
    const std::string second = write("second.toml", "[server]\nthreads = 2\n");
    const std::string third = write("third.toml", "[server]\nthreads = 3\n");
    sources_.files_looked_for = {folder_ / "absent.toml", third};
    EXPECT_EQ(loaded().server.threads, 3u);
    sources_.environment["DOORBUSTER_CONFIG"] = second;
    EXPECT_EQ(loaded().server.threads, 2u);
    sources_.file = first;
    EXPECT_EQ(loaded().server.threads, 1u);
}

TEST_F(LoadConfig, ANamedFileThatCannotBeReadIsAFault) {
    sources_.file = folder_ / "absent.toml";
    EXPECT_THAT(faults(), testing::ElementsAre(AllOf(HasSubstr("absent.toml"), HasSubstr("No such file"))));
    sources_.file = folder_;
    EXPECT_EQ(faults().size(), 1u);
}

TEST_F(LoadConfig, AnUnknownKeyIsAFaultWithItsLineAndAProposal) {
    sources_.file = write("a.toml", "[server]\nthreads = 1\nlisen = \"127.0.0.1:1\"\n[serve]\nthreads = 1\n");
    EXPECT_THAT(faults(), testing::ElementsAre(
                              AllOf(HasSubstr("a.toml:3: "), HasSubstr("did you mean 'server.listen'?")),
                              AllOf(HasSubstr("a.toml:5: "), HasSubstr("did you mean 'server.threads'?"))));
}

TEST_F(LoadConfig, AnUnknownVariableIsAFaultWithAProposal) {
    sources_.environment = {{"DOORBUSTER_SERVER_LISTEN", "127.0.0.1:1"}, {"PATH", "/bin"}};
    EXPECT_THAT(faults(), testing::ElementsAre(HasSubstr("did you mean 'DOORBUSTER_SERVER__LISTEN'?")));
}

TEST_F(LoadConfig, AnUnknownTableIsAFaultAlsoWithoutKeys) {
    sources_.file = write("a.toml", "[server]\n[sever]\n[server.inner]\n");
    EXPECT_THAT(faults(), testing::ElementsAre(AllOf(HasSubstr("a.toml:2: unknown table [sever]"),
                                                     HasSubstr("did you mean 'server'?")),
                                               HasSubstr("a.toml:3: unknown key 'server.inner'")));
}

TEST_F(LoadConfig, AnUnknownOptionInAFlagIsAFaultWithAProposal) {
    sources_.flags = {{"server.thread", "1", "--set"}};
    EXPECT_THAT(faults(), testing::ElementsAre(HasSubstr("did you mean 'server.threads'?")));
}

TEST_F(LoadConfig, AFaultNamesKeyValueAllowedAndLine) {
    sources_.file = write("a.toml", "[server]\nthreads = 999\n");
    EXPECT_THAT(faults(),
                testing::ElementsAre(*sources_.file +
                                     ":2: server.threads = 999: must be a whole number from 0 to 256"));
}

TEST_F(LoadConfig, TypesInTheFileMustMatch) {
    for (const char* line : {"threads = \"2\"", "threads = 2.0", "threads = true", "threads = [2]",
                             "threads = -1", "threads = 4294967298", "threads = {}", "listen = 1",
                             "pin_threads = \"true\"", "pin_threads = 1", "listen = 2026-12-01"}) {
        sources_.file = write("a.toml", std::string("[server]\n") + line + "\n");
        EXPECT_EQ(faults().size(), 1u) << line;
    }
}

TEST_F(LoadConfig, AFileThatIsNotTomlIsAFaultWithItsLine) {
    sources_.file = write("a.toml", "[server]\nthreads == 1\n");
    EXPECT_THAT(faults(), testing::ElementsAre(HasSubstr("a.toml:2: ")));
}

TEST_F(LoadConfig, AllFaultsAreReportedAtOnce) {
    sources_.file = write("a.toml", "[server]\nthreads = 999\nx = 1\n");
    sources_.environment = {{"DOORBUSTER_LOG__LEVEL", "loud"}};
    sources_.flags = {{"store.backend", "redis", "--backend"}, {"server.listen", "here", "--listen"}};
    EXPECT_EQ(faults().size(), 5u);
}

TEST_F(LoadConfig, ASecretMayComeFromAFileWithoutItsLineEnd) {
    for (const char* ending : {"", "\n", "\r\n"}) {
        sources_.environment = {{"DOORBUSTER_ADMIN__KEY_FILE", write("key", key32 + ending)}};
        EXPECT_EQ(loaded().admin.key.value(), key32);
    }
}

TEST_F(LoadConfig, ASecretGivenTwiceIsAFault) {
    sources_.environment = {{"DOORBUSTER_ADMIN__KEY", key32},
                            {"DOORBUSTER_ADMIN__KEY_FILE", write("key", key32)}};
    EXPECT_THAT(faults(), testing::ElementsAre(HasSubstr("both set")));
}

TEST_F(LoadConfig, ASecretFileThatCannotBeReadOrIsTooLargeIsAFault) {
    sources_.environment = {{"DOORBUSTER_ADMIN__KEY_FILE", folder_ / "absent"}};
    EXPECT_EQ(faults().size(), 1u);
    sources_.environment = {{"DOORBUSTER_ADMIN__KEY_FILE", folder_}};
    EXPECT_EQ(faults().size(), 1u);
    sources_.environment = {{"DOORBUSTER_ADMIN__KEY_FILE", write("key", std::string(10'000, 'k'))}};
    EXPECT_EQ(faults().size(), 1u);
}

TEST_F(LoadConfig, OnlySecretsComeFromFiles) {
    sources_.environment = {{"DOORBUSTER_SERVER__LISTEN_FILE", write("x", "127.0.0.1:1")}};
    EXPECT_THAT(faults(), testing::ElementsAre(HasSubstr("unknown environment variable")));
}

TEST_F(LoadConfig, ASecretInAFlagIsRefusedBecauseOthersCouldReadIt) {
    sources_.flags = {{"admin.key", key32, "--set"}};
    EXPECT_THAT(faults(),
                testing::ElementsAre(AllOf(HasSubstr("process list"), testing::Not(HasSubstr(key32)))));
}

TEST_F(LoadConfig, AFaultNeverShowsASecret) {
    sources_.environment = {{"DOORBUSTER_ADMIN__KEY", "hush hush"}};
    EXPECT_THAT(faults(), testing::ElementsAre(AllOf(HasSubstr("***"), testing::Not(HasSubstr("hush")))));
}

TEST_F(LoadConfig, ACopyHasTheValuesAndOptionsOfItsOwn) {
    sources_.flags = {{"server.threads", "4", "--threads"}};
    Config first = loaded();
    const Config copy = first;
    EXPECT_FALSE(first.find("server.threads")->set(PlainText{"5"}, {Source::flag, "--threads"}));
    EXPECT_EQ(copy.server.threads, 4u);
    EXPECT_EQ(first.server.threads, 5u);
    EXPECT_EQ(copy.server.threads.origin().where, "--threads");
}

}  // namespace
}  // namespace doorbuster
