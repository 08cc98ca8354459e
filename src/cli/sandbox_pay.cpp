#include "sandbox/sandbox_pay.hpp"

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/command.hpp"
#include "config/text_file.hpp"

namespace doorbuster {

namespace {

constexpr size_t api_key_bytes_max = 256;

struct Wanted {
    sandbox::SandboxOptions options;
    std::vector<std::string> secrets;
    std::string secret_file, faults;
};

// Nothing is wrong, or a sentence that says what.
std::string fill_in(Wanted& wanted) {
    sandbox::SandboxOptions& options = wanted.options;
    if (options.api_key.empty() || options.api_key.size() > api_key_bytes_max) {
        return "sandbox-pay needs an API key of 1 to 256 bytes: --key, or SANDBOX_PAY_KEY";
    }
    const auto faults = sandbox::FaultSet::parse(wanted.faults);
    if (!faults) return faults.error();
    options.faults = *faults;

    const std::string& url = options.webhook_url;
    if (!url.empty() && !url.starts_with("http://") && !url.starts_with("https://")) {
        return "--webhook-url must be an http or https URL";
    }
    if (!wanted.secret_file.empty()) {
        const auto secret = read_secret_file(wanted.secret_file);
        if (!secret) return "cannot read '" + wanted.secret_file + "': " + secret.error();
        wanted.secrets.push_back(*secret);
    }
    for (const std::string& text : wanted.secrets) {
        const auto secret = WebhookSecret::parse(text);
        if (!secret) return secret.error();
        options.webhook_secrets.push_back(*secret);
    }
    if (options.webhook_secrets.size() > webhook_secrets_max) {
        return "at most " + std::to_string(webhook_secrets_max) + " webhook secrets sign at a time";
    }
    if (!url.empty() && options.webhook_secrets.empty()) {
        return "webhooks are signed: give --webhook-secret-file, or SANDBOX_PAY_WEBHOOK_SECRET, such as " +
               WebhookSecret::generate();
    }
    while (options.public_url.ends_with('/')) options.public_url.pop_back();
    return {};
}

int sandbox_pay(CliRun& run, Wanted& wanted) {
    if (const std::string fault = fill_in(wanted); !fault.empty()) return run.fail(fault, exit_usage);
    const auto done = sandbox::run_sandbox_pay(wanted.options, run.world.out);
    return done ? exit_ok : run.fail(done.error());
}

}  // namespace

void add_sandbox_pay_command(CLI::App& app, CliRun& run) {
    CLI::App* command = app.add_subcommand(
        "sandbox-pay", "Runs a payment provider to try out: a pay page, signed webhooks, faults at will");
    const auto wanted = std::make_shared<Wanted>();
    sandbox::SandboxOptions& options = wanted->options;
    command->add_option("--listen", options.listen, "Where it listens (127.0.0.1:9280); port 0: a free one")
        ->option_text("ADDRESS");
    command->add_option("--key", options.api_key, "The merchant's API key (better: SANDBOX_PAY_KEY)")
        ->option_text("KEY")
        ->envname("SANDBOX_PAY_KEY");
    command->add_option("--webhook-url", options.webhook_url, "Where events go; none are sent without it")
        ->option_text("URL");
    command
        ->add_option("--webhook-secret", wanted->secrets,
                     "whsec_...; may be repeated for a rotation (better: SANDBOX_PAY_WEBHOOK_SECRET)")
        ->option_text("SECRET")
        ->allow_extra_args(false)
        ->envname("SANDBOX_PAY_WEBHOOK_SECRET");
    command->add_option("--webhook-secret-file", wanted->secret_file, "A file that holds the secret")
        ->option_text("FILE");
    command
        ->add_option("--faults", wanted->faults,
                     "Some of delayed, repeated, reordered, lost, forged, underpaid, wrong_currency, "
                     "captured_after_void, unreachable, by commas; or all; or none (default)")
        ->option_text("LIST");
    command->add_option("--seed", options.seed, "The faults' dice (1): the same seed, the same throws")
        ->option_text("NUMBER");
    command->add_option("--data", options.data_file, "Keeps the payments in this file; in memory without it")
        ->option_text("FILE");
    command->add_option("--public-url", options.public_url, "Where buyers reach it, if not where it listens")
        ->option_text("URL");
    command->footer(help_footer(
        "  SANDBOX_PAY_KEY=try doorbuster sandbox-pay\n"
        "  SANDBOX_PAY_KEY=try doorbuster sandbox-pay --webhook-secret-file whsec.txt \\\n"
        "      --webhook-url http://127.0.0.1:8080/v1/payments/webhook --faults lost,repeated --seed 7\n"));
    command->callback([&run, wanted] { run.chosen = [&run, wanted] { return sandbox_pay(run, *wanted); }; });
}

}  // namespace doorbuster
