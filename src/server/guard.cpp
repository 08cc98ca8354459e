#include "server/guard.hpp"

#include <utility>

#include "base/crypto.hpp"
#include "base/log.hpp"
#include "base/threads.hpp"
#include "funnel/level_setting.hpp"

namespace doorbuster {

namespace {

constexpr size_t struck_buyers_max = 65'536;
constexpr Uptime lists_looked_at_every = std::chrono::seconds(1);
// With the guard's own rest about half of the second within which an operator's word counts everywhere: the
// orders thread has the other.
constexpr Uptime settings_looked_at_every = milliseconds(500);
// Whoever waits for a reload holds a connection; more than this are told to come back.
constexpr size_t reloads_waiting_max = 64;

LimitPolicy policy_of(const std::string& kind, uint32_t limit, Uptime window, uint32_t burst) {
    if (kind == "sliding_window") return {LimitPolicy::Kind::sliding_window, limit, window};
    if (kind == "leaky_bucket") return {LimitPolicy::Kind::leaky_bucket, limit, window};
    return {LimitPolicy::Kind::token_bucket, limit, window, burst};
}

LimitTerms limit_terms(const LimitsOptions& limits) {
    using namespace std::chrono_literals;
    const uint32_t checks = limits.checks_per_minute;
    return {.address = policy_of(limits.address_policy, limits.address_per_second, 1s, limits.address_burst),
            .buyer = policy_of(limits.buyer_policy, limits.buyer_per_minute, 60s, limits.buyer_burst),
            .checks = policy_of("token_bucket", checks, 60s, checks),
            .global = policy_of("token_bucket", limits.global_per_second, 1s, limits.global_burst),
            .buyers_per_address_max = limits.buyers_per_address_max,
            .keys_max = limits.keys_max};
}

StrikeTerms strike_terms(const RiskOptions& risk) {
    return {.slow_at = risk.strikes_slow,
            .bar_at = risk.strikes_bar,
            .forget = std::chrono::seconds(risk.strikes_forget_s.value()),
            .slow_every = std::chrono::seconds(risk.slow_every_s.value())};
}

OverloadTargets overload_targets(const OverloadOptions& overload) {
    return {.gate_delay_max = milliseconds(overload.gate_delay_ms_max.value()),
            .queue_delay_max = milliseconds(overload.queue_delay_ms_max.value())};
}

// Unless the operator names a secret, one that follows from the admin key: the same after every
// restart and on every server that has this key, and useless for finding the key out. Whoever
// names the first secret of its own still has tokens about that the derived one signed.
SigningKeys::Secrets token_secrets(const Config& config) {
    const std::string& named = config.tokens.secret;
    const std::string& previous = config.tokens.secret_previous;
    const Digest digest = hmac_sha256(config.admin.key.value(), "doorbuster tokens v1");
    const std::string derived(digest.begin(), digest.end());
    if (named.empty()) return {derived, previous};
    return {named, previous.empty() ? derived : previous};
}

// Empty without a secret; and with an unusable one, which fault_of_secret tells.
KeyRing own_keys(const std::string& secret) {
    auto key = Key::hs256("", secret);
    if (!key) return {};
    auto ring = KeyRing::of({*std::move(key)});
    CHECK(ring);  // one key cannot be mistaken for another
    return *std::move(ring);
}

std::string fault_of_secret(const std::string& secret) {
    if (secret.empty()) return {};
    const auto key = Key::hs256("", secret);
    return key ? std::string() : "identity.hmac_secret: " + key.error();
}

KeySources key_sources(const IdentityOptions& identity) {
    return {.file = identity.keys_file,
            .url = identity.jwks_url,
            .refresh = std::chrono::seconds(identity.jwks_refresh_s.value())};
}

AddressSet address_set(const std::string& list) {
    std::vector<AddressRange> ranges;
    for (const std::string& part : parts_of(list)) {
        const auto range = AddressRange::parse(part);
        CHECK(range);  // judged with the configuration
        ranges.push_back(*range);
    }
    return AddressSet(ranges);
}

}  // namespace

Guard::Guard(const Config& config, Reloader::Read read_again, Clock& clock, Settings& settings, Hooks hooks)
    : clock_(clock),
      hooks_(std::move(hooks)),
      level_(clock.now()),
      strikes_(struck_buyers_max, strike_terms(config.risk)),
      burned_(config.checks.burned_max),
      images_(config.checks.image_pool, draw_checks(), random_seed),
      config_(config),
      desk_(settings,
            [this](std::shared_ptr<const RiskLists> lists, std::function<void()> shown) {
                std::lock_guard lock(mutex_);
                lists_ = std::move(lists);
                remake(std::move(shown));
            }),
      settings_(settings),
      risk_services_{level_, settings, desk_,
                     [this](std::function<void(ReloadReport)> done) { reload(std::move(done)); }},
      key_watch_(key_sources(config.identity), own_keys(config.identity.hmac_secret), clock,
                 [this](std::shared_ptr<const KeyRing> keys) {
                     std::lock_guard lock(mutex_);
                     keys_ = std::move(keys);
                     identity_ = make_identity();
                     remake([] {});
                 }),
      lists_watch_(config.risk.lists_file),
      reloader_(config, std::move(read_again), [this](const Config& fresh) { apply(fresh); }) {}

Guard::~Guard() {
    stop();
}

Result<void, std::string> Guard::load() {
    if (std::string fault = fault_of_secret(config_.identity.hmac_secret); !fault.empty()) return fault;
    auto keys = key_watch_.load();
    if (!keys) return "identity.keys_file: " + keys.error();
    {
        std::lock_guard lock(mutex_);
        keys_ = *std::move(keys);
        identity_ = make_identity();
        remake([] {});
    }
    if (const auto restored = restore_level(settings_, level_, clock_.now()); !restored) {
        return restored.error().text();
    }
    if (const auto loaded = desk_.load(); !loaded) return loaded.error().text();

    const auto text = lists_watch_.read();
    if (!text) return "risk.lists_file: " + text.error();
    auto entries = parse_lists(*text);
    if (!entries) {
        std::string faults = "risk.lists_file has faults; nobody would be blocked as meant:";
        for (const std::string& fault : entries.error()) faults += "\n  " + fault;
        return faults;
    }
    if (!desk_.set_file_entries(*std::move(entries)))
        return "risk.lists_file and the operator's lists are too long together";
    return {};
}

FunnelState Guard::state() {
    return {level_, strikes_, burned_, images_, arrivals_};
}

std::shared_ptr<const FunnelRules> Guard::rules() const {
    std::lock_guard lock(mutex_);
    return rules_;
}

// A new identity has every gate verify every token again: none is made for a list that changed.
std::shared_ptr<const Identity> Guard::make_identity() const {
    const IdentityOptions& identity = config_.identity;
    return std::make_shared<const Identity>(
        IdentityRules{.issuer = identity.issuer,
                      .audience = identity.audience,
                      .skew = std::chrono::seconds(identity.skew_s.value()),
                      .check_claim = identity.check_claim},
        keys_);
}

void Guard::remake(std::function<void()> shown) {
    const SigningKeys::Secrets secrets = token_secrets(config_);
    const LimitTerms terms = limit_terms(config_.limits);
    rules_ = std::make_shared<const FunnelRules>(FunnelRules{
        .identity = identity_,
        .cookie = config_.identity.cookie,
        .origins = parts_of(config_.server.origins.value()),
        .trusted_proxies = address_set(config_.server.trusted_proxies),
        .lists = lists_,
        .limits = rules_ ? std::make_shared<Limits>(terms, *rules_->limits) : std::make_shared<Limits>(terms),
        .tokens = std::make_shared<const PurchaseTokens>(secrets),
        .pow = std::make_shared<const PowChecks>(secrets),
        .image = std::make_shared<const ImageChecks>(secrets),
        .pow_number_max = config_.checks.pow_number_max,
        .pow_target_per_second = static_cast<double>(config_.checks.pow_target_per_second),
        .token_life = std::chrono::seconds(config_.tokens.life_s.value())});
    if (!is_publishing_) return shown();
    hooks_.publish(rules_, std::move(shown));
}

void Guard::start(std::vector<DelaySensor*> gates, OverloadWatch::QueueDelay queue_delay) {
    {
        std::lock_guard lock(mutex_);
        is_publishing_ = true;
        hooks_.publish(rules_, [] {});  // a key may have changed since the gates got theirs
        overload_ = std::make_unique<OverloadWatch>(std::move(gates), std::move(queue_delay), level_,
                                                    overload_targets(config_.overload));
        if (!config_.overload.detect) {
            overload_->set_targets(overload_targets(config_.overload), false, clock_.now());
        }
    }
    key_watch_.start();
    thread_ = std::thread([this] {
        set_thread_up("guard", -1);
        run();
    });
}

void Guard::stop() {
    key_watch_.stop();
    if (!thread_.joinable()) return;
    stopping_.store(true, std::memory_order_release);
    wakeup_.wake();
    thread_.join();
    {
        std::lock_guard lock(reloads_mutex_);
        is_stopped_ = true;
    }
    run_reloads();  // nobody who asked is left without an answer
}

void Guard::run() {
    Uptime look_at = clock_.uptime() + lists_looked_at_every;
    Uptime settings_at = clock_.uptime();
    while (!stopping_.load(std::memory_order_acquire)) {
        wakeup_.sleep(overload_->rest(clock_.uptime()));
        run_reloads();
        show_lists();
        overload_->tick(clock_.uptime(), clock_.now());
        if (hooks_.settings_are_shared && clock_.uptime() >= settings_at) {
            settings_at = clock_.uptime() + settings_looked_at_every;
            look_at_settings();
        }
        if (clock_.uptime() < look_at) continue;
        look_at = clock_.uptime() + lists_looked_at_every;
        look_at_lists();
    }
}

void Guard::look_at_lists() {
    const auto changed = lists_watch_.look();
    if (!changed) return;
    if (!*changed) {
        return log_warn("the lists stay as they were: their file cannot be read",
                        {{"file", lists_watch_.path()}, {"reason", changed->error()}});
    }
    auto entries = parse_lists(**changed);
    if (!entries) {
        return log_warn("the lists stay as they were: their file has faults",
                        {{"file", lists_watch_.path()},
                         {"faults", entries.error().size()},
                         {"first", entries.error().front()}});
    }
    log_info("lists read", {{"file", lists_watch_.path()}, {"entries", entries->size()}});
    lists_to_show_ = std::make_shared<std::vector<ListEntry>>(*std::move(entries));
}

// Again and again while the orders thread has no room for a task.
void Guard::show_lists() {
    if (!lists_to_show_) return;
    const bool posted = hooks_.on_orders_thread([this, entries = lists_to_show_] {
        if (!desk_.set_file_entries(*entries)) {
            log_warn("the lists stay as they were: the file and the operator's are too long together");
        }
    });
    if (posted) lists_to_show_.reset();
}

void Guard::look_at_settings() {
    if (is_looking_.exchange(true)) return;
    if (!hooks_.on_orders_thread([this] { follow_settings(); })) is_looking_ = false;
}

void Guard::follow_settings() {
    is_looking_ = false;
    StoreResult<void> followed = follow_level(settings_, level_, clock_.now());
    // One that cannot be read must not keep the other from being followed.
    if (const auto looked = desk_.look(); !looked) followed = looked.error();
    const bool failed = !followed;
    if (failed && !settings_fail_) {
        log_warn("the operator's level and lists stay as they were: others' changes cannot be read",
                 {{"error", followed.error().text()}});
    }
    settings_fail_ = failed;
}

void Guard::reload(std::function<void(ReloadReport)> done) {
    ReloadReport refused;
    {
        std::lock_guard lock(reloads_mutex_);
        if (is_stopped_) {
            refused.faults.push_back("the server is stopping");
        } else if (reloads_.size() == reloads_waiting_max) {
            refused.faults.push_back("too many reloads wait already: try again");
        } else {
            reloads_.push_back(std::move(done));
        }
    }
    if (!refused.faults.empty()) return done(std::move(refused));
    wakeup_.wake();
}

void Guard::run_reloads() {
    std::vector<std::function<void(ReloadReport)>> waiting;
    {
        std::lock_guard lock(reloads_mutex_);
        waiting.swap(reloads_);
    }
    if (waiting.empty()) return;
    const auto result = reloader_.reload();
    ReloadReport report;
    if (result) {
        report.changed = result->live;
        report.needs_restart = result->needs_restart;
    } else {
        report.faults = result.error();
    }
    const auto answer = [waiting = std::move(waiting), report = std::move(report)] {
        for (const auto& done : waiting) done(report);
    };
    if (!std::exchange(is_changed_, false)) return answer();
    std::lock_guard lock(mutex_);
    config_ = reloader_.running();
    identity_ = make_identity();
    remake(answer);  // whoever hears of the change finds it at every gate
}

void Guard::apply(const Config& fresh) {
    set_log_level(fresh.log.level.value());
    strikes_.set_terms(strike_terms(fresh.risk));
    overload_->set_targets(overload_targets(fresh.overload), fresh.overload.detect, clock_.now());
    if (hooks_.reloaded) hooks_.reloaded(fresh);
    is_changed_ = true;
}

void Guard::prepare_for(const Catalogue& catalogue) {
    for (const auto& [id, listed] : catalogue.sales()) {
        const Phase phase = phase_in(listed->state);
        const bool is_warm = listed->state == SaleState::warming || phase == Phase::selling;
        if (!is_warm) continue;
        rules()->limits->populate();
        if (listed->sale.human_check == HumanCheck::image) images_.begin();
    }
}

void Guard::describe(MetricsSnapshot& snapshot) const {
    snapshot.level = static_cast<uint64_t>(level_.in_force());
    snapshot.level_changes_total = level_.changes_total();
    snapshot.strikes_total = strikes_.strikes_total();
    snapshot.limits_overflowed_total = rules()->limits->overflowed_total() + strikes_.overflowed_total();
    snapshot.images_drawn_total = images_.drawn_total();
    snapshot.images_reused_total = images_.reused_total();
    snapshot.burned_full_total = burned_.full_total();
}

}  // namespace doorbuster
