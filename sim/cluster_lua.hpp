// LuaFunctions: a Redis function library (book.lua) run by Lua 5.1, as Redis runs it, over data that is
// handed in.
//
// Has what the library uses of the `redis` and `struct` tables, and nothing else.
//
// Thread safety: none.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

struct lua_State;

namespace doorbuster::sim::cluster {

struct RedisStream {
    using Id = std::pair<uint64_t, uint64_t>;
    std::map<Id, std::vector<std::string>> entries;
    Id last{0, 0};
};

// What a replica copies and a snapshot keeps.
struct RedisData {
    std::map<std::string, std::map<std::string, std::string>> hashes;
    std::map<std::string, RedisStream> streams;
    bool has_library = false;
};

class LuaFunctions {
public:
    struct Host {
        RedisData& data;
        const std::string& run_id;
        const std::string& replication_id;
        const int64_t& now_us;  // of its own clock
    };

    // A fresh copy of the library.
    LuaFunctions(const Host& host, std::string_view library);
    ~LuaFunctions();
    LuaFunctions(const LuaFunctions&) = delete;
    LuaFunctions& operator=(const LuaFunctions&) = delete;

    // The answer in Redis' protocol.
    std::string call(const std::string& function, const std::vector<std::string>& keys,
                     const std::vector<std::string>& arguments);

    const Host& host() const { return host_; }

private:
    const Host host_;
    lua_State* const lua_;
};

}  // namespace doorbuster::sim::cluster
