#include "base/log.hpp"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

namespace doorbuster {

namespace {

spdlog::logger& logger() {
    static const auto shared = [] {
        auto made = spdlog::stderr_logger_mt("doorbuster");
        made->set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %v", spdlog::pattern_time_type::utc);
        return made;
    }();
    return *shared;
}

bool is_plain(char c) {
    return c > ' ' && c != '"' && c != '\\' && c != '=' && c != 0x7f;
}

void append_value(std::string& line, std::string_view value) {
    bool plain = !value.empty();
    for (const char c : value) plain = plain && is_plain(c);
    if (plain) {
        line += value;
        return;
    }
    line += '"';
    for (const char c : value) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            line += '\\';
            line += c;
        } else if (byte < 0x20 || byte >= 0x7f) {
            // Beyond ASCII, too: U+009B moves a terminal's cursor, U+2028 is a line's end to many
            // readers, U+202E turns a line around.
            line += fmt::format("\\x{:02x}", byte);
        } else {
            line += c;
        }
    }
    line += '"';
}

void log(spdlog::level::level_enum level, std::string_view word, std::string_view sentence, Facts facts) {
    if (logger().should_log(level)) logger().log(level, "{:<5} {}", word, format_log_line(sentence, facts));
}

}  // namespace

std::string format_log_line(std::string_view sentence, Facts facts) {
    std::string line(sentence);
    const char* gap = "  ";
    for (const Fact& fact : facts) {
        line += gap;
        line += fact.name;
        line += '=';
        append_value(line, fact.value);
        gap = " ";
    }
    return line;
}

void log_info(std::string_view sentence, Facts facts) {
    log(spdlog::level::info, "info", sentence, facts);
}
void log_warn(std::string_view sentence, Facts facts) {
    log(spdlog::level::warn, "warn", sentence, facts);
}
void log_error(std::string_view sentence, Facts facts) {
    log(spdlog::level::err, "error", sentence, facts);
}

bool set_log_level(std::string_view level) {
    const auto parsed = spdlog::level::from_str(std::string(level));
    if (parsed == spdlog::level::off && level != "off") return false;
    logger().set_level(parsed);
    return true;
}

}  // namespace doorbuster
