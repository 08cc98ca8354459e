// Disk: what a power cut would leave of the files that a program writes.
//
// A written byte is certain only after a sync of its file, a name (made or removed) only
// after a sync of its folder. Until then every sector may hold, after a cut, what it held
// at any moment since the last sync, whatever its neighbours hold; the length likewise.
//
// It keeps the certain content of every file and each change since, in memory: for the
// small files of tests.
//
// Thread safety: none.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace doorbuster::boundary {

using Bytes = std::vector<char>;

// The content of a file, apart from its name, which may go before it.
class Content {
public:
    explicit Content(Bytes synced) : synced_(std::move(synced)) {}

    void write(size_t offset, std::span<const char> bytes);
    void truncate(size_t size);
    void sync();

    // One of the contents that a power cut may leave.
    Bytes after_power_cut(std::mt19937_64& choice) const;

private:
    struct Change {
        size_t offset;
        Bytes bytes;
        bool truncates;  // to `offset`; otherwise `bytes` were written there
    };
    static void apply(const Change&, Bytes& image);

    Bytes synced_;
    std::vector<Change> unsynced_;
};

class Disk {
public:
    // Call it before the file is opened: what is there now counts as certain.
    // The answer stays valid, also after the name is removed.
    Content& open(const std::string& path);
    void remove(const std::string& path);
    void sync_folder();  // the folder of all files; there is one

    // Makes the real files what a power cut may leave of them.
    // REQUIRES: nobody reads or writes them any more.
    void cut_power(uint64_t seed) const;

private:
    struct Name {
        Content* now;      // null: removed
        Content* certain;  // null: not there
    };
    std::list<Content> contents_;
    std::map<std::string, Name> names_;
};

}  // namespace doorbuster::boundary
