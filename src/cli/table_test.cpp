#include "cli/table.hpp"

#include <gtest/gtest.h>

namespace doorbuster {
namespace {

TEST(Table, ColumnsLineUpWithoutTrailingSpaces) {
    Table table({"ID", "STATE", "N"});
    table.add({"phone-drop", "open", "1"});
    table.add({"x", "", "22"});
    table.add({"x", "paused", ""});
    EXPECT_EQ(table.text(),
              "ID          STATE   N\n"
              "phone-drop  open    1\n"
              "x                   22\n"
              "x           paused\n");
}

TEST(Table, WideCharactersTakeTwoColumns) {
    Table table;
    table.add({"手机", "a"});
    table.add({"cafés", "b"});
    EXPECT_EQ(table.text(), "手机   a\ncafés  b\n");
}

TEST(Table, NoNameCanMoveTheCursorOrForgeARow) {
    EXPECT_EQ(printable("a\x1b[2Jb\nc"), "a\\x1b[2Jb\\x0ac");
    EXPECT_EQ(printable("\xc2\x9b"), "\\xc2\\x9b");  // the one-character escape sequence
    EXPECT_EQ(printable("caf\xc3\xa9"), "caf\xc3\xa9");
}

TEST(Table, BrokenUtf8IsShownByByte) {
    EXPECT_EQ(printable("\xff"
                        "a"),
              "\\xffa");
    EXPECT_EQ(printable("\xe6\x89"), "\\xe6\\x89");
    EXPECT_EQ(printable("\xe6"
                        "ab"),
              "\\xe6"
              "ab");
}

}  // namespace
}  // namespace doorbuster
