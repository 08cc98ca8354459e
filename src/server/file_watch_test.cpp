#include "server/file_watch.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace doorbuster {
namespace {

namespace fs = std::filesystem;

class Watched : public ::testing::Test {
protected:
    void SetUp() override {
        std::string name = fs::temp_directory_path() / "doorbuster-watch-XXXXXX";
        ASSERT_NE(mkdtemp(name.data()), nullptr);
        folder_ = name;
    }
    void TearDown() override { fs::remove_all(folder_); }

    void write(const std::string& name, const std::string& text) { std::ofstream(folder_ / name) << text; }

    // The text that a look finds; "=" if nothing has changed, "!" if it cannot be read.
    static std::string look(FileWatch& watch) {
        const auto found = watch.look();
        if (!found) return "=";
        return *found ? **found : "!";
    }

    fs::path folder_;
};

TEST_F(Watched, EachChangeIsReadOnce) {
    write("lists", "one");
    FileWatch watch(folder_ / "lists");
    EXPECT_EQ(*watch.read(), "one");
    EXPECT_EQ(look(watch), "=");
    write("lists", "longer");
    EXPECT_EQ(look(watch), "longer");
    EXPECT_EQ(look(watch), "=");
}

TEST_F(Watched, AFileThatGoesIsToldOnceAndReadWhenItIsBack) {
    write("lists", "one");
    FileWatch watch(folder_ / "lists");
    ASSERT_TRUE(watch.read());
    fs::remove(folder_ / "lists");
    EXPECT_EQ(look(watch), "!");
    EXPECT_EQ(look(watch), "=");
    write("lists", "two");
    EXPECT_EQ(look(watch), "two");
}

TEST_F(Watched, ANewTimeIsAChangeThoughTheSizeIsTheSame) {
    write("lists", "one");
    FileWatch watch(folder_ / "lists");
    ASSERT_TRUE(watch.read());
    fs::last_write_time(folder_ / "lists", fs::last_write_time(folder_ / "lists") + std::chrono::seconds(5));
    EXPECT_EQ(look(watch), "one");
}

TEST_F(Watched, ALinkThatLeadsElsewhereIsAChange) {
    write("a", "one");
    write("b", "two");
    fs::last_write_time(folder_ / "b", fs::last_write_time(folder_ / "a"));
    fs::create_symlink("a", folder_ / "lists");
    FileWatch watch(folder_ / "lists");
    EXPECT_EQ(*watch.read(), "one");
    fs::create_symlink("b", folder_ / "next");
    fs::rename(folder_ / "next", folder_ / "lists");
    EXPECT_EQ(look(watch), "two");
}

TEST_F(Watched, AFileThatIsNotThereIsAnErrorWithItsReason) {
    FileWatch watch(folder_ / "absent");
    const auto text = watch.read();
    ASSERT_FALSE(text);
    EXPECT_EQ(text.error(), "No such file or directory");
    EXPECT_EQ(look(watch), "=");
}

TEST(FileWatch, NoPathIsAnEmptyFileThatNeverChanges) {
    FileWatch watch("");
    EXPECT_EQ(*watch.read(), "");
    EXPECT_FALSE(watch.look());
}

}  // namespace
}  // namespace doorbuster
