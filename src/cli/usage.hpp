// What was wrong with the words, in a sentence, with the word that was probably meant.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace doorbuster {

// Empty where every command and long flag is known: then something else was wrong.
std::string unknown_word(CLI::App& root, const std::vector<std::string>& words);

}  // namespace doorbuster
