// Orders landed per second in PostgreSQL: ours, which places what the ledger holds in batches, beside
// the textbook's one transaction per order, pessimistic (SELECT … FOR UPDATE) and optimistic (a version),
// each by many clients. All write the same rows into the same tables of the same server: inbox, order,
// event and one hot stock row, with the buyer's limit looked up. fsync and synchronous_commit are on.
//
// In turn, several rounds; each round has a sale of its own. What was counted is compared with what the
// tables hold.
#include <fmt/format.h>

#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <fstream>
#include <sstream>
#include <thread>

#include "base/check.hpp"
#include "sale/testing.hpp"
#include "store_cluster/pg_test_server.hpp"
#include "store_cluster/postgres_orders.hpp"

namespace doorbuster {
namespace {

using pg::Connection;
using pg::Params;
using pg::Rows;
using pg::Transaction;
using std::chrono::steady_clock;

constexpr double goal = 20;  // times the optimistic one

struct Options {
    double seconds = 4;
    uint32_t rounds = 5, clients = 16, batch = 256;
    std::string folder = "build/release";
};

// One to one and scattered (splitmix64): ids and buyers come as hashes and people do.
uint64_t scattered(uint64_t number) {
    uint64_t z = number * 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

std::atomic<uint64_t> next_number = 1;  // of an order, over all rounds

Placement placement(const SaleId& sale, uint64_t position) {
    const uint64_t number = next_number++;
    PurchaseId purchase;
    for (size_t i = 0; i < purchase.bytes.size(); ++i) {
        purchase.bytes[i] = static_cast<uint8_t>(scattered(number * 2 + i / 8) >> (i % 8 * 8));
    }
    return {
        .record = {.position = position,
                   .entry = LedgerEntry{sale,
                                        ItemId("phone"),
                                        {purchase, BuyerId(fmt::format("buyer-{:016x}", scattered(~number))),
                                         1, position, testing::t0}},
                   .raw = {}},
        .order = OrderId{static_cast<int64_t>(number << 12)}};
}

using Deadline = steady_clock::time_point;

uint64_t place_in_batches(PostgresOrders& orders, const SaleId& sale, uint32_t batch_size,
                          Deadline deadline) {
    uint64_t position = *orders.reader().position(), landed = 0;
    while (steady_clock::now() < deadline) {
        const uint64_t before = position;
        std::vector<Placement> batch;
        for (uint32_t i = 0; i < batch_size; ++i) batch.push_back(placement(sale, ++position));
        CHECK(orders.place(before, batch, testing::t0).has_value());
        landed += batch.size();
    }
    return landed;
}

// The textbook's transaction, the same rows as ours.
class OneByOne {
public:
    OneByOne(const pg::ConnectionOptions& options, uint64_t client) : connection_(options), client_(client) {
        connection_.run("SET plan_cache_mode = auto");  // the server's default: best for single rows
    }

    void pessimistic(const SaleId& sale) {
        const Placement one = placement(sale, ++position_);
        Transaction transaction(connection_);
        const Rows item = connection_.run(
            "SELECT units_available, price_minor FROM items WHERE sale = $1 AND id = 'phone' FOR UPDATE",
            Params().add(sale.view()));
        CHECK(item.front().integer(0) >= 1);
        check_limit(one);
        connection_.run(
            "UPDATE items SET units_available = units_available - 1, units_held = units_held + 1, "
            "version = version + 1 WHERE sale = $1 AND id = 'phone'",
            Params().add(sale.view()));
        insert(one, item.front().integer(1));
        transaction.commit();
    }

    int server_process() const { return connection_.server_process(); }

    // How often it was tried.
    uint64_t optimistic(const SaleId& sale) {
        const Placement one = placement(sale, ++position_);
        for (uint64_t tries = 1;; ++tries) {
            const Rows item = connection_.run(
                "SELECT units_available, price_minor, version FROM items WHERE sale = $1 AND id = 'phone'",
                Params().add(sale.view()));
            CHECK(item.front().integer(0) >= 1);
            Transaction transaction(connection_);
            check_limit(one);
            const Rows taken = connection_.run(
                "UPDATE items SET units_available = units_available - 1, units_held = units_held + 1, "
                "version = version + 1 WHERE sale = $1 AND id = 'phone' AND version = $2",
                Params().add(sale.view()).add(item.front().integer(2)));
            if (taken.changed() != 1) continue;
            insert(one, item.front().integer(1));
            transaction.commit();
            return tries;
        }
    }

private:
    void check_limit(const Placement& one) {
        const Acceptance& acceptance = one.record.entry->acceptance;
        const Rows held = connection_.run(
            "SELECT units FROM orders WHERE sale = $1 AND item = 'phone' AND buyer = $2 AND hold != "
            "'finished'",
            Params().add(one.record.entry->sale.view()).add(acceptance.buyer.view()));
        CHECK(held.empty());
    }
    void insert(const Placement& one, int64_t price) {
        const LedgerEntry& entry = *one.record.entry;
        const auto order = static_cast<int64_t>(one.order);
        connection_.run(
            "INSERT INTO purchases(id, sale, item, buyer, units, sequence, accepted_at_ms, partition, "
            "position, "
            "state, order_id) VALUES($1, $2, 'phone', $3, 1, $4, $5, $6, $4, 'ordered', $7)",
            Params()
                .add(entry.acceptance.purchase)
                .add(entry.sale.view())
                .add(entry.acceptance.buyer.view())
                .add(one.record.position)
                .add(to_ms(testing::t0))
                .add(client_)
                .add(order));
        connection_.run(
            "INSERT INTO orders(id, purchase, sale, item, buyer, units, amount_minor, currency, state, "
            "version, "
            "created_at_ms, pay_by_ms, updated_at_ms, hold) "
            "VALUES($1, $2, $3, 'phone', $4, 1, $5, 'TWD', 'pending_payment', 1, $6, $6 + 900000, $6, "
            "'held')",
            Params()
                .add(order)
                .add(entry.acceptance.purchase)
                .add(entry.sale.view())
                .add(entry.acceptance.buyer.view())
                .add(price)
                .add(to_ms(testing::t0)));
        connection_.run("INSERT INTO events(kind, at_ms, sale, order_id) VALUES('order.created', $1, $2, $3)",
                        Params().add(to_ms(testing::t0)).add(entry.sale.view()).add(order));
    }

    Connection connection_;
    const uint64_t client_;
    uint64_t position_ = 0;
};

struct Round {
    double per_second = 0;
    double tries = 1;      // for each order
    double server_us = 0;  // CPU of the server's processes, for each order
};

// User and system time so far of one of the server's processes.
double cpu_s(int process) {
    std::ifstream file(fmt::format("/proc/{}/stat", process));
    std::string text(std::istreambuf_iterator<char>(file), {});
    std::istringstream fields(text.substr(text.rfind(')') + 2));
    std::string skipped;
    for (int i = 0; i < 11; ++i) fields >> skipped;
    double user = 0, system = 0;
    fields >> user >> system;
    return (user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

class Bench {
public:
    explicit Bench(const Options& options)
        : options_(options),
          server_(testing::PostgresServer::Durability::full, options.folder),
          database_(server_.options(server_.take_database())),
          orders_(*PostgresOrders::open(database_)),
          look_(database_) {
        orders_process_ = static_cast<int>(
            look_.read_integer("SELECT pid::bigint FROM pg_stat_activity WHERE datname = current_database() "
                               "AND backend_type = 'client backend' AND pid != pg_backend_pid()"));
        for (const char* setting : {"SHOW fsync", "SHOW synchronous_commit"}) {
            CHECK(look_.run(setting).front().text(0) == "on");
        }
        for (uint64_t i = 0; i < options.clients; ++i) {
            clients_.push_back(std::make_unique<OneByOne>(database_, i + 1));
        }
    }

    template <class Run>
    Round measure(Run&& run) {
        Sale sale = testing::phone_drop(units_max);
        sale.id = SaleId(fmt::format("sale-{}", ++sales_));
        CHECK(orders_->create_sale(sale, SaleState::open, testing::t0).has_value());
        look_.run("CHECKPOINT");  // nobody pays for what another has written
        const auto began = steady_clock::now();
        const auto length = std::chrono::duration<double>(options_.seconds);
        const Round counted =
            run(sale.id, began + std::chrono::duration_cast<steady_clock::duration>(length), began);
        const int64_t held =
            look_.read_integer("SELECT units_held FROM items WHERE sale = $1", Params().add(sale.id.view()));
        const int64_t placed =
            look_.read_integer("SELECT count(*) FROM orders WHERE sale = $1", Params().add(sale.id.view()));
        CHECK(held == placed && held > 0);
        return counted;
    }

    Round ours() {
        return measure([&](const SaleId& sale, Deadline deadline, Deadline began) {
            const double cpu_before = cpu_s(orders_process_);
            const uint64_t landed = place_in_batches(*orders_, sale, options_.batch, deadline);
            return Round{rate(landed, began), 1, each(cpu_s(orders_process_) - cpu_before, landed)};
        });
    }
    Round pessimistic() {
        return by_clients([](OneByOne& client, const SaleId& sale) {
            client.pessimistic(sale);
            return uint64_t{1};
        });
    }
    Round optimistic() {
        return by_clients([](OneByOne& client, const SaleId& sale) { return client.optimistic(sale); });
    }

private:
    double clients_cpu_s() const {
        double sum = 0;
        for (const auto& client : clients_) sum += cpu_s(client->server_process());
        return sum;
    }
    static double each(double seconds, uint64_t landed) {
        return seconds * 1e6 / static_cast<double>(landed);
    }
    static double rate(uint64_t landed, Deadline began) {
        return static_cast<double>(landed) /
               std::chrono::duration<double>(steady_clock::now() - began).count();
    }

    template <class Order>
    Round by_clients(Order&& order) {
        return measure([&](const SaleId& sale, Deadline deadline, Deadline began) {
            std::atomic<uint64_t> landed = 0, tries = 0;
            const double cpu_before = clients_cpu_s();
            std::vector<std::thread> threads;
            for (const auto& client : clients_) {
                threads.emplace_back([&] {
                    while (steady_clock::now() < deadline) {
                        tries += order(*client, sale);
                        ++landed;
                    }
                });
            }
            for (std::thread& one : threads) one.join();
            return Round{rate(landed, began), static_cast<double>(tries) / static_cast<double>(landed),
                         each(clients_cpu_s() - cpu_before, landed)};
        });
    }

    const Options& options_;
    testing::PostgresServer server_;
    const pg::ConnectionOptions database_;
    const std::unique_ptr<PostgresOrders> orders_;
    Connection look_;
    std::vector<std::unique_ptr<OneByOne>> clients_;
    int sales_ = 0;
    int orders_process_ = 0;  // the server's, for our connection
};

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

struct Contestant {
    std::string_view name;
    Round (Bench::*run)();
    std::vector<double> per_second = {}, server_us = {};
};

int run(const Options& options) {
    Bench bench(options);
    std::array<Contestant, 3> contestants{
        {{"pessimistic", &Bench::pessimistic}, {"optimistic", &Bench::optimistic}, {"ours", &Bench::ours}}};
    for (uint32_t round = 1; round <= options.rounds; ++round) {
        fmt::print("round {}:", round);
        for (Contestant& one : contestants) {
            const Round measured = (bench.*one.run)();
            one.per_second.push_back(measured.per_second);
            one.server_us.push_back(measured.server_us);
            fmt::print(" {} {:.0f}/s, {:.0f} µs of server CPU, {:.1f} tries;", one.name, measured.per_second,
                       measured.server_us, measured.tries);
            std::fflush(stdout);
        }
        fmt::print("\n");
    }
    fmt::print("medians, {} clients, batches of {} on one connection:\n", options.clients, options.batch);
    for (const Contestant& one : contestants) {
        fmt::print("{:12} {:6.0f} orders/s  {:5.0f} µs of server CPU each\n", one.name,
                   median(one.per_second), median(one.server_us));
    }
    const double ratio = median(contestants[2].per_second) / median(contestants[1].per_second);
    fmt::print("ours is {:.1f} times the optimistic one, {:.1f} times the pessimistic one (goal {})\n", ratio,
               median(contestants[2].per_second) / median(contestants[0].per_second), goal);
    return ratio >= goal ? 0 : 1;
}

}  // namespace
}  // namespace doorbuster

int main(int count, char** arguments) {
    doorbuster::Options options;
    CLI::App app("Orders landed per second in PostgreSQL");
    app.add_option("--seconds", options.seconds, "of each measurement")->capture_default_str();
    app.add_option("--rounds", options.rounds)->capture_default_str();
    app.add_option("--clients", options.clients, "that place one order at a time")->capture_default_str();
    app.add_option("--batch", options.batch, "records of one of our transactions")->capture_default_str();
    app.add_option("--folder", options.folder, "on the disk to measure")->capture_default_str();
    CLI11_PARSE(app, count, arguments);
    return doorbuster::run(options);
}
