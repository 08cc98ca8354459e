// JsonNames: whether a name stands twice in one object of a JSON text, told while the text is read.
//
// Two readers of one text must never see two things in it. Names are kept as hashes, in place, so nothing is
// allocated; two names of one hash would be taken for one, and the text refused for it.
//
// Thread safety: none needed; it belongs to one reading.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/hash.hpp"

namespace doorbuster {

class JsonNames {
public:
    static constexpr size_t names_max = 64, depth_max = 32;

    // False: nested too deep.
    [[nodiscard]] bool enter_object() { return enter(++objects_made_); }
    [[nodiscard]] bool enter_list() { return enter(0); }
    void leave() { --depth_; }

    size_t depth() const { return depth_; }

    enum class Name : uint8_t { fresh, twice, too_many };
    // Of the innermost object. A name comes in parts.
    void add(std::string_view part) {
        for (const char c : part) hash_ = (hash_ ^ static_cast<unsigned char>(c)) * 0x100000001b3;  // FNV-1a
    }
    Name end() {
        const Seen name{.hash = hash_, .object = objects_[depth_ - 1]};
        hash_ = seed_;
        for (size_t i = 0; i < count_; ++i) {
            if (seen_[i].object == name.object && seen_[i].hash == name.hash) return Name::twice;
        }
        if (count_ == names_max) return Name::too_many;
        seen_[count_++] = name;
        return Name::fresh;
    }

private:
    struct Seen {
        uint64_t hash;
        uint32_t object;
    };

    bool enter(uint32_t object) {
        if (depth_ == depth_max) return false;
        objects_[depth_++] = object;
        return true;
    }

    const uint64_t seed_ = process_hash_seed();
    uint64_t hash_ = seed_;
    std::array<Seen, names_max> seen_;
    size_t count_ = 0;
    std::array<uint32_t, depth_max> objects_;  // which one each level is; 0 for a list
    size_t depth_ = 0;
    uint32_t objects_made_ = 0;
};

}  // namespace doorbuster
