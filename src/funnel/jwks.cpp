#include "funnel/jwks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

namespace doorbuster {

namespace {

namespace json = boost::json;
using MadeKey = Result<Key, std::string>;

constexpr auto failed = boost::system::in_place_error;
constexpr size_t json_depth_max = 8;
constexpr size_t quoted_bytes_max = 40;

// Nothing if it is absent or not a string.
std::optional<std::string_view> text_in(const json::object& jwk, std::string_view name) {
    const json::value* value = jwk.if_contains(name);
    if (value == nullptr || !value->is_string()) return std::nullopt;
    return std::string_view(value->get_string());
}

std::string quoted(const json::object& jwk, std::string_view name) {
    const auto text = text_in(jwk, name);
    if (!text) return jwk.contains(name) ? "something that is no string" : "nothing";
    return fmt::format("\"{}\"", text->substr(0, quoted_bytes_max));
}

MadeKey unusable(const json::object& jwk, std::string_view name, std::string_view usable) {
    return MadeKey(failed, fmt::format("{} is {}, usable is {}", name, quoted(jwk, name), usable));
}

std::optional<std::string> bytes_in(const json::object& jwk, std::string_view name) {
    const auto text = text_in(jwk, name);
    if (!text || text->size() > 2 * Key::secret_bytes_max) return std::nullopt;
    std::string bytes(text->size(), '\0');
    const auto decoded = base64url_decode(*text, bytes);
    if (!decoded) return std::nullopt;
    bytes.resize(decoded->size());
    return bytes;
}

// False for a key that its owner meant for something else.
bool is_for_verifying(const json::object& jwk) {
    if (text_in(jwk, "use") == "enc") return false;
    const json::value* operations = jwk.if_contains("key_ops");
    if (operations == nullptr || !operations->is_array()) return true;
    const json::array& listed = operations->get_array();
    return std::find(listed.begin(), listed.end(), json::value("verify")) != listed.end();
}

// Shops publish keys for others as well: those of a kind that is not used here are passed over
// (RFC 7517, 5), while a faulty one of a kind that is used is a fault.
bool is_of_a_kind_used(const json::object& jwk) {
    const auto kty = text_in(jwk, "kty"), crv = text_in(jwk, "crv");
    if (!kty) return true;
    if (kty == "EC") return !crv || crv == "P-256";
    if (kty == "OKP") return !crv || crv == "Ed25519";
    return kty == "oct";
}

MadeKey key_of(const json::object& jwk) {
    const auto kid = jwk.contains("kid") ? text_in(jwk, "kid") : "";
    if (!kid || (jwk.contains("kid") && kid->empty()) || kid->size() > Key::kid_bytes_max) {
        return MadeKey(failed, fmt::format("kid must be a string of 1 to {} bytes", Key::kid_bytes_max));
    }
    if (jwk.contains("use") && text_in(jwk, "use") != "sig") return unusable(jwk, "use", R"("sig" or "enc")");

    // Absent is fine: the kind of the key leaves only one.
    const auto says_other_than = [&](std::string_view algorithm) {
        return jwk.contains("alg") && text_in(jwk, "alg") != algorithm;
    };
    const auto kty = text_in(jwk, "kty");
    if (kty == "oct") {
        if (says_other_than("HS256")) return unusable(jwk, "alg", R"("HS256" for kty "oct")");
        const auto secret = bytes_in(jwk, "k");
        if (!secret) return MadeKey(failed, "k is not base64url");
        return Key::hs256(*kid, *secret);
    }
    if (kty == "EC") {
        if (text_in(jwk, "crv") != "P-256") return unusable(jwk, "crv", R"("P-256" for kty "EC")");
        if (says_other_than("ES256")) return unusable(jwk, "alg", R"("ES256" for crv "P-256")");
        const auto x = bytes_in(jwk, "x"), y = bytes_in(jwk, "y");
        if (!x || !y) return MadeKey(failed, "x or y is not base64url");
        return Key::es256(*kid, {.x = *x, .y = *y});
    }
    if (kty == "OKP") {
        if (text_in(jwk, "crv") != "Ed25519") return unusable(jwk, "crv", R"("Ed25519" for kty "OKP")");
        if (says_other_than("EdDSA")) return unusable(jwk, "alg", R"("EdDSA" for crv "Ed25519")");
        const auto x = bytes_in(jwk, "x");
        if (!x) return MadeKey(failed, "x is not base64url");
        return Key::eddsa(*kid, *x);
    }
    return unusable(jwk, "kty", R"("oct", "EC" or "OKP")");
}

}  // namespace

Result<KeyRing, std::string> parse_jwks(std::string_view text) {
    using Parsed = Result<KeyRing, std::string>;
    if (text.size() > jwks_bytes_max) {
        return Parsed(failed, fmt::format("the key set is larger than {} bytes", jwks_bytes_max));
    }
    json::parse_options options;
    options.max_depth = json_depth_max;
    json::error_code error;
    const json::value set = json::parse({text.data(), text.size()}, error, {}, options);
    if (error) return Parsed(failed, "the key set is not JSON: " + error.message());
    const json::value* listed = set.is_object() ? set.get_object().if_contains("keys") : nullptr;
    if (listed == nullptr || !listed->is_array()) {
        return Parsed(failed, R"(the key set has no "keys" array)");
    }

    std::vector<Key> keys;
    size_t number = 0;
    for (const json::value& entry : listed->get_array()) {
        ++number;
        if (!entry.is_object()) return Parsed(failed, fmt::format("key {} is not an object", number));
        const json::object& jwk = entry.get_object();
        if (!is_for_verifying(jwk) || !is_of_a_kind_used(jwk)) continue;
        if (keys.size() == KeyRing::keys_max) {
            return Parsed(failed, fmt::format("there are more than {} keys", KeyRing::keys_max));
        }
        auto key = key_of(jwk);
        if (!key) {
            return Parsed(failed,
                          fmt::format("key {} (kid {}): {}", number, quoted(jwk, "kid"), key.error()));
        }
        keys.push_back(*std::move(key));
    }
    // More likely a mistake than a wish that nobody may buy.
    if (keys.empty()) {
        return Parsed(failed,
                      "the key set holds no key for verifying that can be used: oct for HS256, EC P-256 or "
                      "OKP Ed25519");
    }
    return KeyRing::of(std::move(keys));
}

}  // namespace doorbuster
