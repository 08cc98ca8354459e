#include "config/reference.hpp"

#include "config/config.hpp"
#include "config/toml_file.hpp"

namespace doorbuster {

namespace {

constexpr size_t line_characters_max = 96;

constexpr std::string_view opening =
    "# Doorbuster's configuration: every option, its default, its trade-off.\n"
    "#\n"
    "# A flag (--set server.listen=…) wins over the environment (DOORBUSTER_SERVER__LISTEN), the\n"
    "# environment over this file, this file over the default. The file is ./doorbuster.toml, or the\n"
    "# one that --config or DOORBUSTER_CONFIG names. An unknown key is an error. Secrets are best\n"
    "# kept out of it: give them by environment, or in files of their own by …_FILE.\n"
    "#\n"
    "# What is marked \"Live\" takes effect at `doorbuster reload` or SIGHUP, the rest at a restart.\n"
    "#\n"
    "# Made by `doorbuster config print --reference`. `doorbuster config check` checks what you have.\n";

std::string as_comment(std::string_view text) {
    std::string comment, line = "#";
    while (!text.empty()) {
        const std::string_view word = text.substr(0, text.find(' '));
        text.remove_prefix(word.size() < text.size() ? word.size() + 1 : text.size());
        if (line.size() + 1 + word.size() > line_characters_max) {
            comment += line + '\n';
            line = "#";
        }
        line += ' ';
        line += word;
    }
    return comment + line + '\n';
}

std::string as_assignment(const AnyOption& option) {
    const std::string value = option.default_text();
    const std::string key(option.key());
    if (option.is_secret()) return "#" + key + " = \"…\"\n";
    return key + " = " + (option.is_text() ? toml_quoted(value) : value) + '\n';
}

}  // namespace

std::string reference_toml() {
    std::string text(opening);
    const Config config;
    for (const OptionGroup* group : config.groups()) {
        text += "\n[" + std::string(group->name) + "]\n";
        for (const AnyOption* option : group->options) {
            text += '\n' + as_comment(option->text());
            text += as_comment("Allowed: " + option->allowed() + (option->is_live() ? ". Live." : "."));
            text += "# " + option->environment_name();
            if (option->is_secret()) text += " or " + option->environment_name() + "_FILE";
            text += '\n' + as_assignment(*option);
        }
    }
    return text;
}

}  // namespace doorbuster
