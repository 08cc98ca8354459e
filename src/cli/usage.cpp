#include "cli/usage.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "config/did_you_mean.hpp"

namespace doorbuster {

namespace {

const CLI::Option* find_flag(const std::vector<CLI::App*>& path, const std::string& name) {
    for (const CLI::App* command : path) {
        if (const CLI::Option* option = command->get_option_no_throw(name)) return option;
    }
    return nullptr;
}

std::vector<std::string> flag_names(const std::vector<CLI::App*>& path) {
    std::vector<std::string> names;
    for (const CLI::App* command : path) {
        for (const CLI::Option* option : command->get_options()) {
            for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
        }
    }
    return names;
}

std::vector<std::string> names_of(const std::vector<CLI::App*>& commands) {
    std::vector<std::string> names;
    for (const CLI::App* command : commands) names.push_back(command->get_name());
    return names;
}

}  // namespace

std::string unknown_word(CLI::App& root, const std::vector<std::string>& words) {
    std::vector<CLI::App*> path{&root};  // the commands so far; a flag may belong to any of them
    for (size_t i = 0; i < words.size(); ++i) {
        const std::string& word = words[i];
        if (word.size() > 1 && word.starts_with('-')) {
            const std::string name = word.substr(0, word.find('='));
            const CLI::Option* option = find_flag(path, name);
            if (option == nullptr && !word.starts_with("--")) continue;  // -ojson: its own parser's matter
            if (option == nullptr)
                return "unknown flag '" + name + "'" + did_you_mean(name, flag_names(path));
            const bool value_follows = option->get_items_expected_min() > 0 && name == word;
            if (value_follows) ++i;
            continue;
        }
        const auto commands = path.back()->get_subcommands({});
        if (commands.empty()) continue;  // an argument
        const auto known =
            std::ranges::find(commands, word, [](CLI::App* inner) { return inner->get_name(); });
        if (known == commands.end())
            return "unknown command '" + word + "'" + did_you_mean(word, names_of(commands));
        path.push_back(*known);
    }
    return "";
}

}  // namespace doorbuster
