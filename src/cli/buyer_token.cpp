#include <CLI/CLI.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <memory>

#include "base/clock.hpp"
#include "base/rfc3339.hpp"
#include "cli/command.hpp"
#include "config/secrets.hpp"
#include "funnel/identity.hpp"

namespace doorbuster {

namespace {

constexpr uint32_t lifetime_s_default = 86'400;
constexpr uint32_t lifetime_s_max = 366 * 86'400;

struct Wanted {
    std::string buyer;
    uint32_t lifetime_s = lifetime_s_default;
};

int mint_token(CliRun& run, const Wanted& wanted) {
    const auto buyer = BuyerId::from(wanted.buyer);
    if (!buyer)
        return run.fail("a buyer's name has 1 to " + std::to_string(BuyerId::bytes_max) + " bytes",
                        exit_usage);
    const LoadedConfig loaded = load_for(run, Role::client);
    if (!loaded.config) return loaded.exit_code;
    const auto& secret = loaded.config->identity.hmac_secret;
    if (secret.value().size() < secret_bytes_min) {
        return run.fail(secret.value().empty() ? missing_secret_text(*loaded.config, secret)
                                               : secret.name() + " (from " + secret.origin().where +
                                                     ") is too short to be a server's");
    }
    const Instant now = MonotonicClock().now();
    const std::chrono::seconds lifetime(wanted.lifetime_s);
    const Identity identity(secret.value());
    const std::string token = identity.mint(*buyer, now, lifetime);
    const auto who = identity.verify(token, now);
    if (!who || who->buyer != *buyer) {
        return run.fail(
            "a buyer's name must be UTF-8 without control characters: no server would take a "
            "token for this one",
            exit_usage);
    }
    if (!run.as_json()) {
        run.print(token);
        return exit_ok;
    }
    const boost::json::value answer{
        {"token", token}, {"buyer", wanted.buyer}, {"expires_at", format_rfc3339(now + lifetime)}};
    run.print(boost::json::serialize(answer));
    return exit_ok;
}

}  // namespace

void add_buyer_token_command(CLI::App& app, CliRun& run) {
    CLI::App* command = app.add_subcommand(
        "buyer-token", "Prints a buyer's token (JWT), signed with identity.hmac_secret, for trying out");
    const auto wanted = std::make_shared<Wanted>();
    command->add_option("BUYER", wanted->buyer, "The shop's name for the buyer")
        ->required()
        ->option_text(" ");
    command
        ->add_option("--lifetime-s", wanted->lifetime_s,
                     "Seconds until it expires (" + std::to_string(lifetime_s_default) + ")")
        ->option_text("SECONDS")
        ->check(CLI::Range(1u, lifetime_s_max));
    add_store_path_flag(*command, run);
    command->footer(
        help_footer("  doorbuster buyer-token alice\n"
                    "  curl -H \"Authorization: Bearer $(doorbuster buyer-token alice)\" "
                    "http://127.0.0.1:8080/v1/orders\n"));
    command->callback([&run, wanted] { run.chosen = [&run, wanted] { return mint_token(run, *wanted); }; });
}

}  // namespace doorbuster
