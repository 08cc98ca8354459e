// The configuration: a file, and the same text as values of the environment.
//
// Whatever stands there, the answer is a configuration or a list of faults, and never a secret
// inside a fault.
#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include "base/check.hpp"
#include "config/load.hpp"

namespace doorbuster {
namespace {

const std::string secret = "a-secret-that-no-fault-repeats-0000000000";

// A file in memory: its path is one that the loader can open.
class MemoryFile {
public:
    explicit MemoryFile(std::string_view text) : number_(memfd_create("configuration", MFD_CLOEXEC)) {
        CHECK(number_ >= 0);
        while (!text.empty()) {
            const ssize_t written = ::write(number_, text.data(), text.size());
            CHECK(written > 0);
            text.remove_prefix(static_cast<size_t>(written));
        }
    }
    MemoryFile(const MemoryFile&) = delete;
    ~MemoryFile() { ::close(number_); }
    std::string path() const { return "/proc/self/fd/" + std::to_string(number_); }

private:
    const int number_;
};

void load(const ConfigSources& sources) {
    const auto config = load_config(sources);
    if (config) return;
    CHECK(!config.error().empty());
    for (const ConfigFault& fault : config.error()) {
        CHECK(!fault.text.empty() && fault.text.find(secret) == std::string::npos);
    }
}

void fuzz(const std::string& text) {
    if (text.find(secret) != std::string::npos) return;  // libFuzzer learns what it is compared with
    const MemoryFile file(text);
    const Environment keys{{"DOORBUSTER_ADMIN__KEY", secret}, {"DOORBUSTER_IDENTITY__HMAC_SECRET", secret}};
    load({.file = file.path(), .environment = keys});
    constexpr size_t value_bytes_max = 64;  // longer ones are slow to suggest a better name for
    if (text.size() > value_bytes_max || text.find('\0') != std::string::npos) return;
    Environment environment = keys;
    for (const char* name :
         {"SERVER__LISTEN", "SERVER__TRUSTED_PROXIES", "SERVER__ORIGINS", "SERVER__THREADS",
          "IDENTITY__COOKIE", "IDENTITY__JWKS_URL", "LIMITS__ADDRESS_POLICY", "LOG__LEVEL"}) {
        environment[std::string("DOORBUSTER_") + name] = text;
    }
    load({.file = {}, .files_looked_for = {}, .environment = environment, .flags = {{text, text, "--set"}}});
}

}  // namespace
}  // namespace doorbuster

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    doorbuster::fuzz(std::string(reinterpret_cast<const char*>(data), size));
    return 0;
}
