#include "sandbox/sandbox_pay.hpp"

#include <optional>
#include <ostream>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "sandbox/api.hpp"
#include "sandbox/journal.hpp"
#include "sandbox/provider.hpp"
#include "sandbox/server.hpp"
#include "sandbox/webhook_sender.hpp"

namespace doorbuster::sandbox {

namespace {

std::string url_of(const boost::asio::ip::tcp::endpoint& endpoint) {
    const std::string host = endpoint.address().to_string();
    return "http://" + (endpoint.address().is_v6() ? '[' + host + ']' : host) + ':' +
           std::to_string(endpoint.port());
}

}  // namespace

Result<void, std::string> run_sandbox_pay(const SandboxOptions& options, std::ostream& out) {
    MonotonicClock clock;
    SandboxServer server;
    const auto endpoint = server.listen(options.listen);
    if (!endpoint) return endpoint.error();
    const std::string url = url_of(*endpoint);

    SandboxProvider provider({.public_url = options.public_url.empty() ? url : options.public_url,
                              .seed = options.seed,
                              .faults = options.faults});
    std::optional<Journal> journal;
    if (!options.data_file.empty()) {
        auto opened =
            Journal::open(options.data_file, [&](const Payment& payment) { provider.restore(payment); });
        if (!opened) return opened.error();
        journal.emplace(*std::move(opened));
    }
    WebhookSender sender(options.webhook_url, options.webhook_secrets, clock);
    SandboxApi api(provider, options.api_key, [&] { return sender.counts(); });

    out << "sandbox-pay is ready  url=" << url << std::endl;
    auto done =
        server.run({.provider = provider, .api = api, .sender = sender, .journal = journal, .clock = clock});
    if (const uint64_t waiting = sender.counts().waiting; waiting > 0) {
        log_warn("webhooks that still waited are never sent", {{"waiting", waiting}});
    }
    return done;
}

}  // namespace doorbuster::sandbox
