#include "sim/cluster_lua.hpp"

#include <fmt/format.h>
#include <lua5.1/lua.hpp>

#include "base/check.hpp"

namespace doorbuster::sim::cluster {

namespace {

LuaFunctions& self_of(lua_State* lua) {
    lua_getfield(lua, LUA_REGISTRYINDEX, "host");
    auto* self = static_cast<LuaFunctions*>(lua_touserdata(lua, -1));
    lua_pop(lua, 1);
    return *self;
}

std::string text_at(lua_State* lua, int at) {
    size_t size = 0;
    const char* bytes = lua_tolstring(lua, at, &size);
    return bytes == nullptr ? std::string() : std::string(bytes, size);
}

void push(lua_State* lua, std::string_view text) {
    lua_pushlstring(lua, text.data(), text.size());
}

// The forms of book.lua: big-endian unsigned numbers of 1, 4 and 8 bytes; c0, a text as it is.
constexpr size_t text_width = 0;
std::vector<size_t> widths_of(lua_State* lua, const std::string& form) {
    std::vector<size_t> widths;
    for (size_t i = 1; i < form.size(); ++i) {
        if (form[i] == 'B') {
            widths.push_back(1);
        } else if (form[i] == 'I' && i + 1 < form.size()) {
            widths.push_back(static_cast<size_t>(form[++i] - '0'));
        } else if (form.compare(i, std::string::npos, "c0") == 0) {
            widths.push_back(text_width);
            ++i;
        } else {
            luaL_error(lua, "struct: what the simulation does not know");
        }
    }
    return widths;
}

int struct_pack(lua_State* lua) {
    std::string packed;
    int at = 2;
    for (const size_t width : widths_of(lua, text_at(lua, 1))) {
        if (width == text_width) {
            packed += text_at(lua, at++);
            continue;
        }
        const auto number = static_cast<uint64_t>(luaL_checknumber(lua, at++));
        for (size_t byte = width; byte-- > 0;) packed.push_back(static_cast<char>(number >> (8 * byte)));
    }
    push(lua, packed);
    return 1;
}

int struct_unpack(lua_State* lua) {
    const std::string bytes = text_at(lua, 2);
    auto at = static_cast<size_t>(luaL_optnumber(lua, 3, 1)) - 1;
    int count = 0;
    for (const size_t width : widths_of(lua, text_at(lua, 1))) {
        if (at + width > bytes.size()) return luaL_error(lua, "struct: data string too short");
        uint64_t number = 0;
        for (size_t i = 0; i < width; ++i) number = number << 8 | static_cast<uint8_t>(bytes[at++]);
        lua_pushnumber(lua, static_cast<lua_Number>(number));
        ++count;
    }
    lua_pushnumber(lua, static_cast<lua_Number>(at + 1));
    return count + 1;
}

RedisStream::Id stream_id(std::string text, uint64_t missing_sequence) {
    const size_t dash = text.find('-');
    if (dash == std::string::npos) return {std::stoull(text), missing_sequence};
    return {std::stoull(text.substr(0, dash)), std::stoull(text.substr(dash + 1))};
}

int fail(lua_State* lua, const char* what, bool raises) {
    if (raises) return luaL_error(lua, "%s", what);
    lua_newtable(lua);
    lua_pushstring(lua, what);
    lua_setfield(lua, -2, "err");
    return 1;
}

void push_entries(lua_State* lua, const RedisStream& stream, const std::vector<std::string>& words) {
    const bool is_behind = words[2].starts_with('(');
    const auto low = stream_id(is_behind ? words[2].substr(1) : words[2], 0);
    const auto high =
        words[3] == "+" ? RedisStream::Id{UINT64_MAX, UINT64_MAX} : stream_id(words[3], UINT64_MAX);
    const uint64_t count_max = words.size() > 5 ? std::stoull(words[5]) : UINT64_MAX;
    lua_newtable(lua);
    int count = 0;
    for (const auto& [id, fields] : stream.entries) {
        if (id < low || (is_behind && id == low) || id > high) continue;
        if (static_cast<uint64_t>(count) == count_max) break;
        lua_newtable(lua);
        push(lua, fmt::format("{}-{}", id.first, id.second));
        lua_rawseti(lua, -2, 1);
        lua_newtable(lua);
        for (size_t i = 0; i < fields.size(); ++i) {
            push(lua, fields[i]);
            lua_rawseti(lua, -2, static_cast<int>(i + 1));
        }
        lua_rawseti(lua, -2, 2);
        lua_rawseti(lua, -2, ++count);
    }
}

int command(lua_State* lua, bool raises) {
    std::vector<std::string> words;
    for (int at = 1; at <= lua_gettop(lua); ++at) words.push_back(text_at(lua, at));
    const auto& [data, run_id, replication_id, now_us] = self_of(lua).host();
    const std::string& verb = words.at(0);
    if (verb == "HMGET" || verb == "HGET") {
        const auto hash = data.hashes.find(words.at(1));
        const auto push_field = [&](const std::string& field) {
            const bool is_there = hash != data.hashes.end() && hash->second.contains(field);
            is_there ? push(lua, hash->second.at(field)) : lua_pushboolean(lua, 0);
        };
        if (verb == "HGET") {
            push_field(words.at(2));
            return 1;
        }
        lua_newtable(lua);
        for (size_t i = 2; i < words.size(); ++i) {
            push_field(words[i]);
            lua_rawseti(lua, -2, static_cast<int>(i - 1));
        }
        return 1;
    }
    if (verb == "HSET") {
        auto& hash = data.hashes[words.at(1)];
        for (size_t i = 2; i + 1 < words.size(); i += 2) hash[words[i]] = words[i + 1];
    } else if (verb == "HDEL") {
        for (size_t i = 2; i < words.size(); ++i) data.hashes[words.at(1)].erase(words[i]);
    } else if (verb == "UNLINK") {
        for (size_t i = 1; i < words.size(); ++i) {
            data.hashes.erase(words[i]);
            data.streams.erase(words[i]);
        }
    } else if (verb == "XADD") {
        RedisStream& stream = data.streams[words.at(1)];
        const auto id = stream_id(words.at(2), 0);
        if (id <= stream.last) return fail(lua, "ERR The ID specified in XADD is equal or smaller", raises);
        stream.last = id;
        stream.entries[id].assign(words.begin() + 3, words.end());
        push(lua, words[2]);
        return 1;
    } else if (verb == "XDEL") {
        RedisStream& stream = data.streams[words.at(1)];
        size_t gone = 0;
        for (size_t i = 2; i < words.size(); ++i) gone += stream.entries.erase(stream_id(words[i], 0));
        lua_pushnumber(lua, static_cast<lua_Number>(gone));
        return 1;
    } else if (verb == "XLEN") {
        lua_pushnumber(lua, static_cast<lua_Number>(data.streams[words.at(1)].entries.size()));
        return 1;
    } else if (verb == "XRANGE") {
        push_entries(lua, data.streams[words.at(1)], words);
        return 1;
    } else if (verb == "TIME") {
        lua_newtable(lua);
        push(lua, std::to_string(now_us / 1'000'000));
        lua_rawseti(lua, -2, 1);
        push(lua, std::to_string(now_us % 1'000'000));
        lua_rawseti(lua, -2, 2);
        return 1;
    } else if (verb == "INFO") {
        push(lua, fmt::format("run_id:{}\r\nmaster_replid:{}\r\n", run_id, replication_id));
        return 1;
    } else {
        return luaL_error(lua, "the simulated Redis does not know %s", verb.c_str());
    }
    lua_pushnumber(lua, 1);
    return 1;
}

int redis_call(lua_State* lua) {
    return command(lua, true);
}
int redis_pcall(lua_State* lua) {
    return command(lua, false);
}

int redis_error_reply(lua_State* lua) {
    lua_newtable(lua);
    lua_pushvalue(lua, 1);
    lua_setfield(lua, -2, "err");
    return 1;
}

int redis_register_function(lua_State* lua) {
    lua_getfield(lua, LUA_REGISTRYINDEX, "functions");
    if (lua_istable(lua, 1)) {
        lua_getfield(lua, 1, "function_name");
        lua_getfield(lua, 1, "callback");
    } else {
        lua_pushvalue(lua, 1);
        lua_pushvalue(lua, 2);
    }
    lua_settable(lua, -3);
    return 0;
}

void push_list(lua_State* lua, const std::vector<std::string>& texts) {
    lua_createtable(lua, static_cast<int>(texts.size()), 0);
    for (size_t i = 0; i < texts.size(); ++i) {
        push(lua, texts[i]);
        lua_rawseti(lua, -2, static_cast<int>(i + 1));
    }
}

// As Redis turns what a function returns into an answer.
std::string protocol_of(lua_State* lua, int at) {
    switch (lua_type(lua, at)) {
        case LUA_TSTRING: {
            const std::string text = text_at(lua, at);
            return fmt::format("${}\r\n{}\r\n", text.size(), text);
        }
        case LUA_TNUMBER:
            return fmt::format(":{}\r\n", static_cast<int64_t>(lua_tonumber(lua, at)));
        case LUA_TBOOLEAN:
            return lua_toboolean(lua, at) != 0 ? ":1\r\n" : "$-1\r\n";
        case LUA_TTABLE:
            break;
        default:
            return "$-1\r\n";
    }
    lua_getfield(lua, at, "err");
    if (lua_isstring(lua, -1) != 0) {
        const std::string text = text_at(lua, -1);
        lua_pop(lua, 1);
        return "-" + text + "\r\n";
    }
    lua_pop(lua, 1);
    const auto count = static_cast<int>(lua_objlen(lua, at));
    std::string answer = fmt::format("*{}\r\n", count);
    for (int i = 1; i <= count; ++i) {
        lua_rawgeti(lua, at, i);
        answer += protocol_of(lua, lua_gettop(lua));
        lua_pop(lua, 1);
    }
    return answer;
}

void add_table(lua_State* lua, const char* name, std::initializer_list<luaL_Reg> functions) {
    lua_newtable(lua);
    for (const luaL_Reg& one : functions) {
        lua_pushcfunction(lua, one.func);
        lua_setfield(lua, -2, one.name);
    }
    lua_setglobal(lua, name);
}

}  // namespace

LuaFunctions::LuaFunctions(const Host& host, std::string_view library) : host_(host), lua_(luaL_newstate()) {
    CHECK(lua_ != nullptr);
    luaL_openlibs(lua_);
    lua_pushlightuserdata(lua_, this);
    lua_setfield(lua_, LUA_REGISTRYINDEX, "host");
    lua_newtable(lua_);
    lua_setfield(lua_, LUA_REGISTRYINDEX, "functions");
    add_table(lua_, "redis",
              {{"call", redis_call},
               {"pcall", redis_pcall},
               {"error_reply", redis_error_reply},
               {"register_function", redis_register_function}});
    add_table(lua_, "struct", {{"pack", struct_pack}, {"unpack", struct_unpack}});
    library.remove_prefix(library.find('\n'));  // "#!lua name=…" is Redis' to read
    const bool is_loaded = luaL_loadbuffer(lua_, library.data(), library.size(), "@book.lua") == 0 &&
                           lua_pcall(lua_, 0, 0, 0) == 0;
    if (!is_loaded) std::fprintf(stderr, "doorbuster-sim: %s\n", lua_tostring(lua_, -1));
    CHECK(is_loaded);
}

LuaFunctions::~LuaFunctions() {
    lua_close(lua_);
}

std::string LuaFunctions::call(const std::string& function, const std::vector<std::string>& keys,
                               const std::vector<std::string>& arguments) {
    lua_settop(lua_, 0);
    lua_getfield(lua_, LUA_REGISTRYINDEX, "functions");
    lua_getfield(lua_, -1, function.c_str());
    if (lua_isnil(lua_, -1)) return "-ERR Function not found\r\n";
    push_list(lua_, keys);
    push_list(lua_, arguments);
    if (lua_pcall(lua_, 2, 1, 0) != 0) {
        std::fprintf(stderr, "doorbuster-sim: %s\n", lua_tostring(lua_, -1));
        CHECK(false);  // the functions check before they write, so none of them ever fails
    }
    return protocol_of(lua_, lua_gettop(lua_));
}

}  // namespace doorbuster::sim::cluster
