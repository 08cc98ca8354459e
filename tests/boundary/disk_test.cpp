#include "boundary/disk.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

namespace doorbuster::boundary {
namespace {

constexpr size_t sector = 512;
constexpr uint64_t cuts = 200;

Bytes filled(size_t size, char with) {
    return Bytes(size, with);
}

// Every content that some power cut leaves.
std::set<Bytes> possible(const Content& content) {
    std::set<Bytes> seen;
    for (uint64_t seed = 0; seed < cuts; ++seed) {
        std::mt19937_64 choice(seed);
        seen.insert(content.after_power_cut(choice));
    }
    return seen;
}

TEST(Disk, WhatIsSyncedIsThereAfterEveryCut) {
    Content content(filled(3 * sector, 'a'));
    content.write(sector, filled(sector, 'b'));
    content.truncate(2 * sector);
    content.sync();
    Bytes kept = filled(sector, 'a');
    kept.insert(kept.end(), sector, 'b');
    EXPECT_EQ(possible(content), std::set{kept});
}

TEST(Disk, AWriteThatIsNotSyncedIsThereGoneOrTornAtSectors) {
    Content content(filled(2 * sector, 'a'));
    content.write(0, filled(2 * sector, 'b'));
    const auto seen = possible(content);
    EXPECT_EQ(seen.size(), 4u);
    EXPECT_TRUE(seen.contains(filled(2 * sector, 'a')));
    EXPECT_TRUE(seen.contains(filled(2 * sector, 'b')));
    for (const Bytes& left : seen) {
        for (size_t at = 0; at < left.size(); ++at) EXPECT_EQ(left[at], left[at / sector * sector]);
    }
}

TEST(Disk, ASectorHoldsWhatItHeldAtSomeMoment) {
    Content content(filled(sector, 'a'));
    content.write(0, filled(sector / 2, 'b'));
    content.write(sector / 2, filled(sector / 2, 'c'));
    // The second write without the first never was in the sector.
    EXPECT_EQ(possible(content).size(), 3u);
}

TEST(Disk, AnAppendThatIsNotSyncedMayLeaveALengthWithoutItsBytes) {
    Content content(filled(sector, 'a'));
    content.write(sector, filled(sector, 'b'));
    Bytes hole = filled(sector, 'a');
    hole.resize(2 * sector);
    EXPECT_TRUE(possible(content).contains(hole));
}

class DiskOfFiles : public testing::Test {
protected:
    DiskOfFiles() { std::filesystem::create_directories(folder_); }
    ~DiskOfFiles() override { std::filesystem::remove_all(folder_); }

    std::string path(const char* name) const { return folder_ / name; }
    void put(const char* name, std::string_view text) const { std::ofstream(path(name)) << text; }
    // Its text, or "gone".
    std::string left(const char* name) const {
        std::ifstream file(path(name));
        if (!file) return "gone";
        return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    }
    std::set<std::string> possible_of(const Disk& disk, const char* name) const {
        std::set<std::string> seen;
        for (uint64_t seed = 0; seed < cuts; ++seed) {
            disk.cut_power(seed);
            seen.insert(left(name));
        }
        return seen;
    }

private:
    const std::filesystem::path folder_ =
        std::filesystem::path(testing::TempDir()) /
        ("disk-" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
};

TEST_F(DiskOfFiles, ANewNameIsCertainOnlyAfterTheFolderIsSynced) {
    Disk disk;
    Content& content = disk.open(path("log"));
    content.write(0, std::string_view("record"));
    content.sync();
    EXPECT_EQ(possible_of(disk, "log"), (std::set<std::string>{"gone", "record"}));
    disk.sync_folder();
    EXPECT_EQ(possible_of(disk, "log"), std::set<std::string>{"record"});
}

TEST_F(DiskOfFiles, ARemovedNameMayComeBackUntilTheFolderIsSynced) {
    put("journal", "undo");
    Disk disk;
    disk.open(path("journal"));
    disk.remove(path("journal"));
    EXPECT_EQ(possible_of(disk, "journal"), (std::set<std::string>{"gone", "undo"}));
    disk.sync_folder();
    EXPECT_EQ(possible_of(disk, "journal"), std::set<std::string>{"gone"});
}

}  // namespace
}  // namespace doorbuster::boundary
