// Log: a fixed sentence, then facts with units.
//
//   log_warn("ledger append took long", {{"sale", sale}, {"waited_ms", waited}});
//   -> 2026-12-01T12:00:00.123Z warn  ledger append took long  sale=phone-drop waited_ms=812
//
// Values from outside are escaped, so that no name can forge a line.
#pragma once

#include <fmt/format.h>

#include <initializer_list>
#include <string>
#include <string_view>

namespace doorbuster {

struct Fact {
    std::string_view name;
    std::string value;

    Fact(std::string_view fact_name, std::string_view text) : name(fact_name), value(text) {}
    Fact(std::string_view fact_name, const char* text) : name(fact_name), value(text) {}
    Fact(std::string_view fact_name, const std::string& text) : name(fact_name), value(text) {}
    template <class T>
    Fact(std::string_view fact_name, const T& number) : name(fact_name), value(fmt::to_string(number)) {}
};

using Facts = std::initializer_list<Fact>;

void log_info(std::string_view sentence, Facts facts = {});
void log_warn(std::string_view sentence, Facts facts = {});
void log_error(std::string_view sentence, Facts facts = {});

// One of debug, info, warn, error, off. False for any other word.
bool set_log_level(std::string_view level);

std::string format_log_line(std::string_view sentence, Facts facts);

}  // namespace doorbuster
