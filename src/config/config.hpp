// Config: every option of Doorbuster, with its default, range and trade-off.
//
// A flag wins over the environment, the environment over the file, the file over the
// default; each value remembers where it came from. conf/doorbuster.toml is made from
// these declarations, and a test holds the two together.
#pragma once

#include <string>
#include <vector>

#include "config/option.hpp"

namespace doorbuster {

struct ServerOptions : OptionGroup {
    using OptionGroup::OptionGroup;

    Option<std::string> listen{
        *this, "listen", "127.0.0.1:8080", address_rule,
        "Where buyers' requests arrive. Loopback suits a proxy on the same machine, which also brings TLS; "
        "0.0.0.0 lets other machines in. Port 0 picks a free one."};
    Option<uint32_t> threads{
        *this,
        "threads",
        0,
        {.max = 256},
        "Gate threads, each with its own listening socket. 0 takes one per core; fewer leave room for a "
        "neighbour on the same machine."};
    Option<bool> pin_threads{*this,
                             "pin_threads",
                             false,
                             {},
                             "Pins each gate thread to one core. Steadier latencies on a machine of its own; "
                             "worse ones where cores "
                             "are shared."};
    Option<uint32_t> connections_max{
        *this,
        "connections_max",
        10'000,
        {.min = 1, .max = 1'000'000},
        "Connections open at once per gate thread; further ones wait to be accepted. More costs memory and "
        "file descriptors, fewer makes a crowd wait at the door. Where the limit of open files is too low "
        "for all of them there are fewer, so that 128 are left for the operator and the disk."};
    Option<uint32_t> header_bytes_max{*this,
                                      "header_bytes_max",
                                      16'384,
                                      {.min = 1024, .max = 1'048'576},
                                      "The largest request header, 431 beyond it. Larger forgives proxies "
                                      "that add much; each connection may "
                                      "buffer this much."};
    Option<uint32_t> header_fields_max{*this,
                                       "header_fields_max",
                                       100,
                                       {.min = 10, .max = 1000},
                                       "Header fields in one request, 431 beyond it."};
    Option<uint32_t> body_bytes_max{*this,
                                    "body_bytes_max",
                                    16'384,
                                    {.min = 1024, .max = 1'048'576},
                                    "The largest body from a buyer, 413 beyond it, before it is read. A "
                                    "purchase needs a few hundred bytes."};
    Option<uint32_t> header_deadline_ms{*this,
                                        "header_deadline_ms",
                                        10'000,
                                        {.min = 100, .max = 600'000},
                                        "How long a request's header may take to arrive. Shorter sheds slow "
                                        "attackers sooner; longer forgives "
                                        "poor mobile networks."};
    Option<uint32_t> body_deadline_ms{*this,
                                      "body_deadline_ms",
                                      10'000,
                                      {.min = 100, .max = 600'000},
                                      "How long a request's body may take to arrive, after its header."};
    Option<uint32_t> write_deadline_ms{
        *this,
        "write_deadline_ms",
        10'000,
        {.min = 100, .max = 600'000},
        "How long a client may take to read an answer before its connection is closed."};
    Option<uint32_t> idle_deadline_ms{
        *this,
        "idle_deadline_ms",
        60'000,
        {.min = 100, .max = 3'600'000},
        "How long a kept-alive connection may stay silent. Longer than the proxy in front keeps its own, or "
        "the proxy meets closed ones."};
    Option<uint32_t> drain_ms_max{*this,
                                  "drain_ms_max",
                                  30'000,
                                  {.min = 0, .max = 3'600'000},
                                  "How long SIGTERM waits for requests in hand. Shorter than the "
                                  "supervisor's own patience, or it kills "
                                  "before the drain ends; nothing accepted is lost either way."};
};

struct AdminOptions : OptionGroup {
    using OptionGroup::OptionGroup;

    Option<std::string> listen{
        *this, "listen", "127.0.0.1:9180", address_rule,
        "Where the operator's calls, probes and metrics arrive. Keep it off the public network: the key is "
        "its only lock, and it speaks plain HTTP."};
    Option<std::string> key{
        *this, "key", "", header_secret_rule,
        "The operator's key, sent as a bearer token. Whoever has it can open, restock and close sales."};
    Option<uint32_t> body_bytes_max{
        *this,
        "body_bytes_max",
        1'048'576,
        {.min = 1024, .max = 67'108'864},
        "The largest body from the operator. A sale of a thousand items takes about 200 KiB."};
};

struct IdentityOptions : OptionGroup {
    using OptionGroup::OptionGroup;

    Option<std::string> hmac_secret{
        *this, "hmac_secret", "", secret_rule,
        "The secret that the shop signs its buyers' tokens with (JWT, HS256). Whoever has it can buy in any "
        "buyer's name."};
};

struct StoreOptions : OptionGroup {
    using OptionGroup::OptionGroup;

    Option<std::string> backend{
        *this, "backend", "embedded", backend_rule,
        "Where sales live. embedded keeps everything in this process and its data folder, with no set-up."};
    Option<std::string> path{*this, "path", "./data", folder_rule,
                             "The data folder of the embedded backend. Every acceptance waits for this "
                             "disk's fsync, so its latency "
                             "is the buyer's; one process at a time may use it."};
};

struct ShardOptions : OptionGroup {
    using OptionGroup::OptionGroup;

    Option<uint32_t> queue_capacity{
        *this,
        "queue_capacity",
        16'384,
        {.min = 64, .max = 1'048'576, .power_of_two = true},
        "Purchases that may wait for the book; beyond it buyers hear 503 before anything is taken. Longer "
        "rides out a burst, shorter answers the crowd sooner."};
    Option<uint32_t> wait_ms_max{
        *this,
        "wait_ms_max",
        2000,
        {.min = 1, .max = 60'000},
        "The predicted wait for the book above which a purchase is refused with 503 at once. Above what a "
        "buyer's client waits, work is done for people who have left."};
    Option<uint32_t> batch_max{
        *this,
        "batch_max",
        1024,
        {.min = 1, .max = 65'536},
        "Purchases decided in one commit. More share one fsync, fewer wait for each other."};
};

struct OrdersOptions : OptionGroup {
    using OptionGroup::OptionGroup;

    Option<uint32_t> rate_per_second_max{*this,
                                         "rate_per_second_max",
                                         5000,
                                         {.min = 1, .max = 1'000'000},
                                         "Orders made from acceptances per second. Lower spares the disk and "
                                         "the shop behind; winners then wait "
                                         "longer for their order, never for their yes."};
    Option<uint32_t> batch_max{
        *this,
        "batch_max",
        1024,
        {.min = 1, .max = 65'536},
        "Orders made in one transaction. More is faster, fewer lets look-ups and operator calls in sooner."};
    Option<uint32_t> node{*this,
                          "node",
                          0,
                          {.max = 1023},
                          "This process's number inside order ids. Processes whose orders meet in one place "
                          "need different ones."};
    Option<uint32_t> tasks_max{
        *this,
        "tasks_max",
        4096,
        {.min = 16, .max = 1'048'576},
        "Operator calls and cancellations that may wait for the orders thread, 503 beyond it."};
};

struct LookupsOptions : OptionGroup {
    using OptionGroup::OptionGroup;

    Option<uint32_t> threads{*this,
                             "threads",
                             2,
                             {.min = 1, .max = 64},
                             "Threads that read orders and purchases for buyers, each with its own database "
                             "connection. More serves "
                             "more readers at once and takes cores from the gate."};
    Option<uint32_t> tasks_max{*this,
                               "tasks_max",
                               4096,
                               {.min = 16, .max = 1'048'576},
                               "Look-ups that may wait for those threads, 503 beyond it."};
};

struct LogOptions : OptionGroup {
    using OptionGroup::OptionGroup;

    Option<std::string> level{
        *this, "level", "info", log_level_rule,
        "The least important kind of line that is written: info tells of sales, starts and stops, warn and "
        "error of what somebody should look at. No level writes a line per request, and debug has nothing "
        "to add to info yet."};
};

class Config {
    // First, because the groups below put themselves into it as they are made.
    std::vector<OptionGroup*> groups_;

public:
    Config() = default;
    Config(const Config& other) : Config() { *this = other; }
    Config& operator=(const Config&);

    ServerOptions server{groups_, "server"};
    AdminOptions admin{groups_, "admin"};
    IdentityOptions identity{groups_, "identity"};
    StoreOptions store{groups_, "store"};
    ShardOptions shard{groups_, "shard"};
    OrdersOptions orders{groups_, "orders"};
    LookupsOptions lookups{groups_, "lookups"};
    LogOptions log{groups_, "log"};

    std::string file;  // the one that was read; empty if none was

    // In the order of the declarations.
    const std::vector<OptionGroup*>& groups() const { return groups_; }
    std::vector<const AnyOption*> options() const;

    AnyOption* find(std::string_view name);
};

}  // namespace doorbuster
