// Change: a transaction on plain maps and vectors.
//
// Works in place and remembers what was there; unless it is kept, everything is as before
// when it goes, also where a crash is thrown through it.
#pragma once

#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace doorbuster::sim {

class Change {
public:
    Change() = default;
    Change(const Change&) = delete;
    Change& operator=(const Change&) = delete;
    ~Change() { undo_to(0); }

    void keep() { undo_.clear(); }

    // A point to go back to, for a part that could not be done.
    size_t mark() const { return undo_.size(); }
    void undo_to(size_t mark) {
        while (undo_.size() > mark) {
            undo_.back()();
            undo_.pop_back();
        }
    }

    // The row under the key, to be written to; a new one if there was none.
    template <class Map>
    typename Map::mapped_type& row(Map& map, const typename Map::key_type& key) {
        const auto found = map.find(key);
        if (found == map.end()) {
            undo_.push_back([&map, key] { map.erase(key); });
            return map[key];
        }
        undo_.push_back([&map, key, was = found->second] { map[key] = was; });
        return found->second;
    }
    template <class Map>
    void erase(Map& map, const typename Map::key_type& key) {
        const auto found = map.find(key);
        if (found == map.end()) return;
        undo_.push_back([&map, key, was = found->second] { map[key] = was; });
        map.erase(found);
    }
    template <class Value>
    void append(std::vector<Value>& list, Value value) {
        undo_.push_back([&list] { list.pop_back(); });
        list.push_back(std::move(value));
    }
    template <class Value>
    void set(Value& place, Value value) {
        undo_.push_back([&place, was = place] { place = was; });
        place = std::move(value);
    }

private:
    std::vector<std::function<void()>> undo_;
};

}  // namespace doorbuster::sim
