// KeyKeeper: which keys tokens are verified with now, and when to look at their sources again.
//
// Keys come from up to three places: the server's own (its secret), a file, and a URL. A
// source that cannot be read, or holds what cannot be used, leaves its old keys in force: a
// shop's slip must not lock its buyers out in the middle of a sale.
//
// Thread safety: none.
#pragma once

#include <sys/stat.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/crypto.hpp"
#include "base/result.hpp"
#include "funnel/keys.hpp"

namespace doorbuster {

struct KeySources {
    std::string file{};  // a JWKS; empty: none
    std::string url{};   // of a JWKS; empty: none
    std::chrono::seconds refresh{300};
};

class KeyKeeper {
public:
    using Fetch = std::function<Result<std::string, std::string>(const std::string& url)>;
    // After a failed fetch the next comes after one second, then two, four, …, each somewhat
    // earlier at random, and never later than the refresh.
    static constexpr std::chrono::seconds retry_first{1};

    // A source that changed, or whose outcome changed: what the operator is told.
    struct News {
        std::string_view source;  // the option that names it
        std::string error;        // empty: it was read
        size_t keys = 0;          // of this source, in force
    };
    struct Look {
        std::shared_ptr<const KeyRing> changed;  // null: the keys are as before
        std::vector<News> news;
    };

    KeyKeeper(KeySources sources, KeyRing own, Fetch fetch, uint64_t jitter_seed);

    // The first look. A file that is named must be usable; a URL may be away.
    [[nodiscard]] Result<Look, std::string> load(Uptime now);

    // Looks at the file, and at the URL if its time has come.
    [[nodiscard]] Look look(Uptime now);

    const std::shared_ptr<const KeyRing>& keys() const { return keys_; }

private:
    using Text = Result<std::string, std::string>;
    struct Source {
        std::string_view name;
        KeyRing ring{};
        Digest digest{};  // of the text that the ring was read from
        std::optional<std::string> outcome{};
    };
    // Differs whenever the file's content may.
    struct Stamp {
        ino_t inode;
        off_t size_bytes;
        int64_t modified_ns, changed_ns;
        friend bool operator==(const Stamp&, const Stamp&) = default;
    };

    void look_at_file(Look& look);
    void look_at_url(Look& look, Uptime now);
    // False, and the old keys stay, if the text is none or unusable.
    bool take(Source& source, const Source& other, const Text& text, Look& look);
    Uptime spread(Uptime at_most, double part);

    const KeySources sources_;
    const KeyRing own_;
    const Fetch fetch_;
    std::minstd_rand random_;

    Source file_{.name = "identity.keys_file"}, url_{.name = "identity.jwks_url"};
    std::shared_ptr<const KeyRing> keys_;
    std::optional<Stamp> file_seen_;  // nothing: read it whatever it is
    Uptime fetch_at_{};
    Uptime retry_after_{retry_first};
};

}  // namespace doorbuster
