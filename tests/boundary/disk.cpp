#include "boundary/disk.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace doorbuster::boundary {

namespace {

constexpr size_t sector_bytes = 512;

size_t below(std::mt19937_64& choice, size_t bound) {
    return choice() % bound;
}

}  // namespace

void Content::write(size_t offset, std::span<const char> bytes) {
    unsynced_.push_back({offset, Bytes(bytes.begin(), bytes.end()), false});
}

void Content::truncate(size_t size) {
    unsynced_.push_back({size, {}, true});
}

void Content::apply(const Change& change, Bytes& image) {
    if (change.truncates) {
        image.resize(change.offset);
        return;
    }
    image.resize(std::max(image.size(), change.offset + change.bytes.size()));
    std::copy(change.bytes.begin(), change.bytes.end(),
              image.begin() + static_cast<ptrdiff_t>(change.offset));
}

void Content::sync() {
    for (const Change& change : unsynced_) apply(change, synced_);
    unsynced_.clear();
}

Bytes Content::after_power_cut(std::mt19937_64& choice) const {
    size_t size_max = synced_.size();
    for (const Change& change : unsynced_) size_max = std::max(size_max, change.offset + change.bytes.size());
    const size_t sectors = (size_max + sector_bytes - 1) / sector_bytes;

    // Moment m: after the first m changes. Every sector and the length have theirs; often
    // all the same one, since the cases at the ends are as likely as the torn ones.
    const size_t last = unsynced_.size();
    const size_t luck = below(choice, 4);
    auto moment = [&] { return luck == 0 ? 0 : luck == 1 ? last : below(choice, last + 1); };
    std::vector<std::vector<size_t>> sectors_of(last + 1);
    for (size_t sector = 0; sector < sectors; ++sector) sectors_of[moment()].push_back(sector);
    const size_t length_of = moment();

    Bytes image = synced_, left(size_max);
    size_t length = 0;
    for (size_t m = 0;; ++m) {
        for (const size_t sector : sectors_of[m]) {
            const size_t from = std::min(sector * sector_bytes, image.size());
            const size_t to = std::min(from + sector_bytes, image.size());
            std::copy(image.begin() + static_cast<ptrdiff_t>(from),
                      image.begin() + static_cast<ptrdiff_t>(to),
                      left.begin() + static_cast<ptrdiff_t>(from));
        }
        if (m == length_of) length = image.size();
        if (m == last) break;
        apply(unsynced_[m], image);
    }
    left.resize(length);
    return left;
}

Content& Disk::open(const std::string& path) {
    const auto [found, is_first] = names_.try_emplace(path);
    Name& name = found->second;
    if (is_first && std::filesystem::exists(path)) {
        std::ifstream file(path, std::ios::binary);
        contents_.emplace_back(Bytes(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()));
        name.now = name.certain = &contents_.back();
    } else if (name.now == nullptr) {
        contents_.emplace_back(Bytes());
        name.now = &contents_.back();
    }
    return *name.now;
}

void Disk::remove(const std::string& path) {
    if (const auto found = names_.find(path); found != names_.end()) found->second.now = nullptr;
}

void Disk::sync_folder() {
    for (auto& [path, name] : names_) name.certain = name.now;
}

void Disk::cut_power(uint64_t seed) const {
    std::mt19937_64 choice(seed);
    for (const auto& [path, name] : names_) {
        const Content* content = below(choice, 2) == 0 ? name.now : name.certain;
        if (content == nullptr) {
            std::filesystem::remove(path);
            continue;
        }
        const Bytes left = content->after_power_cut(choice);
        std::ofstream(path, std::ios::binary | std::ios::trunc)
            .write(left.data(), static_cast<std::streamsize>(left.size()));
    }
}

}  // namespace doorbuster::boundary
