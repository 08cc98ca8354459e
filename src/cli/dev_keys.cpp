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
#include "config/toml_file.hpp"

namespace doorbuster {

namespace {

std::string text_of(const Config& config, const DevAddresses& addresses) {
    return "# Written by `doorbuster dev`. The keys are kept; the addresses are those of the last start.\n"
           "# For trying out: a server that faces buyers gets keys of its own.\n"
           "\n[server]\nlisten = " +
           toml_quoted(addresses.server_listen) +
           "\n\n[admin]\nlisten = " + toml_quoted(addresses.admin_listen) +
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

// What an earlier start left; nothing but defaults where there was none.
Result<Config, std::string> read_kept(const std::string& path) {
    std::error_code error;
    if (!std::filesystem::exists(path, error)) return Config();
    const auto loaded = load_config({.file = path, .files_looked_for = {}, .environment = {}, .flags = {}});
    if (!loaded) return loaded.error().front().text;
    return *loaded;
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

    const auto kept = read_kept(path);
    if (!kept) return kept.error();
    fill_in(config, config.admin.key, kept->admin.key, path);
    fill_in(config, config.identity.hmac_secret, kept->identity.hmac_secret, path);
    if (!kept->admin.key.value().empty() && !kept->identity.hmac_secret.value().empty()) return {};
    return write_private(path, text_of(config, {config.server.listen, config.admin.listen}));
}

Result<void, std::string> record_dev_start(const Config& config, const DevAddresses& addresses) {
    return write_private(dev_keys_file(config), text_of(config, addresses));
}

Result<void, std::string> borrow_dev_keys(Config& config) {
    for (const auto* secret : {&config.admin.key, &config.identity.hmac_secret}) {
        if (secret->origin().source == Source::file) return {};
    }
    const auto kept = read_kept(dev_keys_file(config));
    if (!kept) return kept.error();
    for (const auto* option :
         {&kept->server.listen, &kept->admin.listen, &kept->admin.key, &kept->identity.hmac_secret}) {
        AnyOption* own = config.find(option->name());
        if (option->origin().source == Source::built_in || own->origin().source != Source::built_in) continue;
        const auto fault = own->set(PlainText{option->value()}, option->origin());
        CHECK(!fault);  // it was loaded under the same rules
    }
    return {};
}

}  // namespace doorbuster
