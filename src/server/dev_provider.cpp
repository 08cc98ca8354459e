#include "server/dev_provider.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "base/check.hpp"
#include "base/crypto.hpp"
#include "base/standard_webhooks.hpp"
#include "sandbox/sandbox_pay.hpp"

namespace doorbuster {

namespace {

constexpr std::string_view usual_address = "127.0.0.1:9280";

// What the child says goes into the pipe, line by line.
class PipeBuffer : public std::stringbuf {
public:
    explicit PipeBuffer(int pipe) : pipe_(pipe) {}
    int sync() override {
        const std::string text = str();
        str({});
        return ::write(pipe_, text.data(), text.size()) == static_cast<ssize_t>(text.size()) ? 0 : -1;
    }

private:
    const int pipe_;
};

std::string read_line(int pipe) {
    std::string line;
    for (char c; ::read(pipe, &c, 1) == 1 && c != '\n';) line += c;
    return line;
}

[[noreturn]] void run_child(sandbox::SandboxOptions options, int pipe, pid_t parent) {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() != parent) ::_exit(0);  // it died before that was arranged
    PipeBuffer buffer(pipe);
    std::ostream out(&buffer);
    auto ended = sandbox::run_sandbox_pay(options, out);
    if (!ended) {  // the usual place may be taken
        options.listen = "127.0.0.1:0";
        ended = sandbox::run_sandbox_pay(options, out);
    }
    ::_exit(ended ? 0 : 1);
}

// This server, as a URL. Empty if its port is one that the system chooses: it is not known yet.
std::string own_url(const Config& config) {
    const auto listens = parse_host_port(config.server.listen.value());
    if (!listens || listens->port == 0) return {};
    const bool anywhere = listens->host == "0.0.0.0" || listens->host == "::";
    const std::string host = anywhere                                       ? "127.0.0.1"
                             : listens->host.find(':') != std::string::npos ? '[' + listens->host + ']'
                                                                            : listens->host;
    return "http://" + host + ':' + std::to_string(listens->port);
}

}  // namespace

Result<DevProvider, std::string> DevProvider::start(const Config& config) {
    DevProvider provider;
    provider.key_ = random_secret(32);
    provider.webhook_secret_ = WebhookSecret::generate();
    sandbox::SandboxOptions options;
    options.listen = usual_address;
    options.api_key = provider.key_;
    // Without a URL there are no events, and the provider is asked.
    if (const std::string own = own_url(config); !own.empty()) {
        options.webhook_url = own + "/v1/payments/webhook";
        provider.return_url_ = own + "/orders#o{order}";
    }
    options.webhook_secrets.push_back(*WebhookSecret::parse(provider.webhook_secret_));
    options.data_file = (std::filesystem::path(config.store.path.value()) / "sandbox-pay.log").string();

    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return std::string(std::strerror(errno));
    std::fflush(stdout);  // or both processes would print what waits
    const pid_t parent = ::getpid(), child = ::fork();
    if (child < 0) return std::string(std::strerror(errno));
    if (child == 0) run_child(std::move(options), ends[1], parent);
    ::close(ends[1]);
    provider.process_ = child;
    const std::string line = read_line(ends[0]);
    ::close(ends[0]);
    const size_t at = line.find("url=");
    if (at == std::string::npos) return std::string("it ended before it was ready");
    provider.url_ = line.substr(at + 4);
    return provider;
}

DevProvider::~DevProvider() {
    if (process_ == 0) return;
    ::kill(process_, SIGTERM);
    ::waitpid(process_, nullptr, 0);
}

void DevProvider::set(Config& config) const {
    const std::pair<const char*, const std::string*> values[] = {
        {"payments.provider_url", &url_},
        {"payments.provider_key", &key_},
        {"payments.return_url", &return_url_},
        {"payments.webhook_secret", &webhook_secret_}};
    for (const auto& [name, value] : values) {
        AnyOption* option = config.find(name);
        if (option->origin().source != Source::built_in) continue;
        const auto fault = option->set(PlainText{*value}, {Source::file, "doorbuster dev"});
        CHECK(!fault);
    }
}

}  // namespace doorbuster
