#include "server/dev.hpp"

#include <fmt/format.h>

#include <functional>
#include <future>

#include "base/log.hpp"
#include "base/rfc3339.hpp"
#include "cli/dev_keys.hpp"
#include "server/dev_provider.hpp"
#include "server/serve.hpp"
#include "server/version.hpp"

namespace doorbuster {

using namespace std::chrono_literals;

namespace {

Sale demo_sale(std::string_view id, std::string title, Instant opens_at, Instant closes_at) {
    return {.id = SaleId(id),
            .title = std::move(title),
            .opens_at = opens_at,
            .closes_at = closes_at,
            .warm_before = 1800s,
            .payment_window = 900s,
            .items = {{.id = ItemId("phone"),
                       .name = "Phone",
                       .price_minor = 999900,
                       .original_price_minor = 1599900,
                       .currency = "TWD",
                       .units_total = 100,
                       .units_per_buyer_max = 2}}};
}

// demo-now, demo-now-2, …: the first that is on sale for a while yet, or that is free.
template <class Usable>
std::string demo_id(const SaleDesk& desk, const std::string& name, Usable usable) {
    for (int number = 1;; ++number) {
        const std::string id = number == 1 ? name : fmt::format("{}-{}", name, number);
        const SaleRecord* known = desk.find(SaleId(id));
        if (known == nullptr || usable(*known)) return id;
    }
}

struct DemoSales {
    std::string now, soon;
    Instant soon_opens_at;
};

// REQUIRES: runs on the orders thread. `done` is called when the first sale can be bought from.
void create_demo_sales(SaleDesk& desk, Clock& clock,
                       const std::function<void(std::optional<DemoSales>)>& done) {
    const Instant now = clock.now();
    auto created = [](const StoreResult<SaleRecord>& sale) {
        if (!sale) log_error("the demo sale could not be created", {{"error", sale.error().text()}});
    };
    DemoSales demo;
    demo.now = demo_id(desk, "demo-now", [&](const SaleRecord& sale) {
        return sale.state == SaleState::open && sale.sale.closes_at > now + 10min;
    });
    if (desk.find(SaleId(demo.now)) == nullptr) {
        desk.create(demo_sale(demo.now, "Open now", now, now + 24h * 7), false, now, created);
    }
    demo.soon = demo_id(desk, "demo-soon", [](const SaleRecord&) { return false; });
    demo.soon_opens_at = now + 60s;
    desk.create(demo_sale(demo.soon, "Opens in a minute", demo.soon_opens_at, demo.soon_opens_at + 15min),
                false, now, created);
    desk.tick(now, clock.uptime());  // warms both up
    desk.act(SaleId(demo.now), SaleVerb::open, {}, now, [demo, done](const auto& opened) {
        if (!opened) log_error("the demo sale could not be opened", {{"error", opened.error().text()}});
        done(opened ? std::optional(demo) : std::nullopt);
    });
}

constexpr const char* banner = R"banner(
Doorbuster {version}, for trying out on this machine.

  buyers     http://{public_address}      (interface: http://{public_address}/openapi.json)
  operator   http://{admin_address}      admin key {admin_key}
  payments   {provider}      a sandbox: no money moves
  data       {data}      keys in {keys_file}

  {now}   is open: 100 phones, 2 per buyer      http://{public_address}/sales/{now}
  {soon}  opens at {soon_opens_at}, 60 seconds from now      http://{public_address}/sales/{soon}

Open one of the pages in a browser, or buy a unit and see the order in another terminal:

  TOKEN=$(curl -s --json '{{"buyer":"alice"}}' http://{public_address}/dev/sign-in | sed 's/.*"token":"\([^"]*\)".*/\1/')
  curl -s -H "Authorization: Bearer $TOKEN" -H 'Idempotency-Key: first' \
       --json '{{"item":"phone","quantity":1}}' http://{public_address}/v1/sales/{now}/purchases
  curl -s -H "Authorization: Bearer $TOKEN" http://{public_address}/v1/orders

Pay for it: put the order's id into this line, and open the payment_url that it answers.

  curl -s -X POST -H "Authorization: Bearer $TOKEN" http://{public_address}/v1/orders/ORDER/payments

As the operator:  ./run sale list   ./run sale status {now}   ./run sale pause {now}   ./run --help{hint}
Ctrl-C stops it; nothing is lost.

)banner";

}  // namespace

int dev(const Config& given, const DevOptions& options) {
    Config config = given;
    std::optional<DevProvider> provider;
    if (config.payments.provider_url.value().empty()) {
        if (auto started = DevProvider::start(config); started) {
            provider.emplace(*std::move(started));
            provider->set(config);
        } else {
            log_warn("no sandbox payment provider", {{"reason", started.error()}});
        }
    }
    auto read_again = [&]() -> decltype(options.read_again()) {
        auto read = options.read_again();
        if (read && provider) provider->set(*read);
        return read;
    };
    auto on_ready = [&](Services& services, const Addresses& addresses) {
        if (const auto recorded =
                record_dev_start(config, {addresses.public_address, addresses.admin_address});
            !recorded) {
            log_warn("client commands may not find this server", {{"reason", recorded.error()}});
        }
        std::promise<std::optional<DemoSales>> made;
        const bool posted = services.orders_thread.post([&] {
            create_demo_sales(services.desk, services.clock, [&](const auto& demo) { made.set_value(demo); });
        });
        if (!posted) return log_error("the demo sales could not be created: the orders thread is full");
        const std::optional<DemoSales> demo = made.get_future().get();
        if (!demo) return;
        // Without a word about it, a client looks into the default folder.
        const auto& path = config.store.path;
        const std::string hint =
            path.origin().source == Source::built_in
                ? ""
                : fmt::format("\n(each with --store-path {}, by which it finds this server)", path.value());
        fmt::print(fmt::runtime(banner), fmt::arg("version", version),
                   fmt::arg("public_address", addresses.public_address),
                   fmt::arg("admin_address", addresses.admin_address),
                   fmt::arg("admin_key", config.admin.key.value()),
                   fmt::arg("provider", config.payments.provider_url.value().empty()
                                            ? "none"
                                            : config.payments.provider_url.value()),
                   fmt::arg("data", config.store.path.value()), fmt::arg("keys_file", options.keys_file),
                   fmt::arg("hint", hint), fmt::arg("now", demo->now), fmt::arg("soon", demo->soon),
                   fmt::arg("soon_opens_at", format_rfc3339(demo->soon_opens_at)));
    };
    return serve(config, {.demo_sign_in = true, .on_ready = on_ready, .read_again = read_again});
}

}  // namespace doorbuster
