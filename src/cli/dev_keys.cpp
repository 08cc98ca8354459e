#include "cli/dev_keys.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "base/check.hpp"
#include "base/crypto.hpp"
#include "config/load.hpp"
#include "config/secrets.hpp"
#include "config/text_file.hpp"
#include "config/toml_file.hpp"

namespace doorbuster {

namespace {

constexpr size_t keys_file_bytes_max = 64 * 1024;

std::string text_of(const Config& config) {
    return "# Written by `doorbuster dev`. The keys are kept; the addresses are those of the last start.\n"
           "# For trying out: a server that faces buyers gets keys of its own.\n"
           "\n[server]\nlisten = " +
           toml_quoted(config.server.listen.value()) +
           "\n\n[admin]\nlisten = " + toml_quoted(config.admin.listen.value()) +
           "\nkey = " + toml_quoted(config.admin.key.value()) +
           "\n\n[identity]\nhmac_secret = " + toml_quoted(config.identity.hmac_secret.value()) + "\n";
}

// Under another name first: a crash in the middle leaves the old keys, not half a file.
Result<void, std::string> write_private(const std::string& path, const std::string& text) {
    const std::string draft = path + ".new";
    const auto failed = [&] { return "cannot write '" + path + "': " + std::strerror(errno); };
    ::unlink(draft.c_str());  // left by a crash; O_EXCL then makes the file with this mode, not an older one
    const int file = ::open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0) return failed();
    const bool written = ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    const bool synced = written && ::fsync(file) == 0;
    const bool closed = ::close(file) == 0;
    if (!synced || !closed || std::rename(draft.c_str(), path.c_str()) != 0) return failed();
    return {};
}

void fill_in(Config& config, const Option<std::string>& secret, const Option<std::string>& kept,
             const std::string& path) {
    if (secret.origin().source != Source::built_in) return;
    const std::string value = kept.value().empty() ? random_secret(secret_bytes_min) : kept.value();
    const auto fault = config.find(secret.name())->set(PlainText{value}, {Source::file, path});
    CHECK(!fault);  // what is kept was loaded under the same rules
}

}  // namespace

std::string dev_keys_file(const Config& config) {
    return (std::filesystem::path(config.store.path.value()) / "dev.toml").string();
}

Result<void, std::string> prepare_dev_keys(Config& config) {
    const std::string path = dev_keys_file(config);
    std::error_code error;
    std::filesystem::create_directories(config.store.path.value(), error);
    if (error) return "cannot make the folder '" + config.store.path.value() + "': " + error.message();

    Config kept;
    if (std::filesystem::exists(path, error)) {
        const auto loaded =
            load_config({.file = path, .files_looked_for = {}, .environment = {}, .flags = {}});
        if (!loaded) return loaded.error().front().text;
        kept = *loaded;
    }
    fill_in(config, config.admin.key, kept.admin.key, path);
    fill_in(config, config.identity.hmac_secret, kept.identity.hmac_secret, path);

    const std::string text = text_of(config);
    const auto before = read_text_file(path, keys_file_bytes_max);
    if (before && *before == text) return {};
    return write_private(path, text);
}

}  // namespace doorbuster
