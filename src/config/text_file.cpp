#include "config/text_file.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace doorbuster {

Result<std::string, std::string> read_text_file(const std::string& path, size_t bytes_max) {
    using Read = Result<std::string, std::string>;
    constexpr auto failed = boost::system::in_place_error;
    struct Close {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };
    const std::unique_ptr<std::FILE, Close> file(std::fopen(path.c_str(), "rbe"));
    if (!file) return Read(failed, std::strerror(errno));
    std::string text;
    std::array<char, 4096> part;
    while (const size_t bytes = std::fread(part.data(), 1, part.size(), file.get())) {
        text.append(part.data(), bytes);
        if (text.size() > bytes_max) {
            return Read(failed, "it is larger than " + std::to_string(bytes_max) + " bytes");
        }
    }
    if (std::ferror(file.get()) != 0) return Read(failed, std::strerror(errno));
    return Read(boost::system::in_place_value, std::move(text));
}

Result<std::string, std::string> read_secret_file(const std::string& path) {
    constexpr size_t secret_bytes_max = 4096;
    auto secret = read_text_file(path, secret_bytes_max);
    if (secret && secret->ends_with('\n')) secret->pop_back();
    if (secret && secret->ends_with('\r')) secret->pop_back();
    return secret;
}

}  // namespace doorbuster
