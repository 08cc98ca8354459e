// Config: every option of Doorbuster, with its default, range and trade-off.
//
// A flag wins over the environment, the environment over the file, the file over the
// default; each value remembers where it came from. conf/doorbuster.toml is made from
// these declarations, and a test holds the two together.
#pragma once

#include <string>
#include <vector>

#include "base/limit_bounds.hpp"
#include "config/audit_options.hpp"
#include "config/cluster_options.hpp"
#include "config/option.hpp"
#include "config/page_options.hpp"
#include "config/payment_options.hpp"
#include "config/webhook_options.hpp"

namespace doorbuster {

struct ServerOptions : OptionGroup {
    using OptionGroup::OptionGroup;

    Option<std::string> listen{
        *this, "listen", "127.0.0.1:8080", address_rule,
        "Where buyers' requests arrive. Loopback suits a proxy on the same machine, which also brings TLS; "
        "0.0.0.0 lets other machines in. Port 0 picks a free one."};
    Option<std::string> roles{
        *this, "roles", "gate,worker,sweeper", roles_rule,
        "What this process does on the cluster backend: gate answers buyers, worker makes orders, sweeper "
        "brings units back, rebuilds books, watches the clock and the money. Each may run any number of "
        "times. The embedded backend does everything."};
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
    Option<std::string> trusted_proxies{
        *this,
        "trusted_proxies",
        "",
        address_ranges_rule,
        "Proxies whose X-Forwarded-For is believed: addresses or ranges, separated by commas. Without them "
        "every buyer behind a proxy counts as the proxy; a range too wide lets anybody choose an address.",
        Reload::live};
    Option<std::string> origins{
        *this,
        "origins",
        "",
        origins_rule,
        "Other sites whose pages may call and read the answers (CORS), also with a buyer's cookie, separated "
        "by commas, for example https://shop.example: where `doorbuster publish` put the pages. The server's "
        "own site always may.",
        Reload::live};
    Option<uint32_t> connections_max{
        *this,
        "connections_max",
        10'000,
        {.min = 1, .max = 1'000'000},
        "Connections open at once per gate thread. For a further one a connection is closed whose client "
        "keeps it waiting: one that has its last answer or never asked, else one between two requests, else "
        "one with half a request or an answer that it does not read. If there is none, the further one waits "
        "to be accepted. More costs memory and file descriptors, fewer makes a crowd wait at the door. Where "
        "the limit of open files is too low for all of them there are fewer, so that 128 are left for the "
        "operator and the disk."};
    Option<uint32_t> header_bytes_max{*this,
                                      "header_bytes_max",
                                      16'384,
                                      {.min = 1024, .max = 1'048'576},
                                      "The largest request header, 431 beyond it. Larger forgives proxies "
                                      "that add much; each connection may "
                                      "buffer this much.",
                                      Reload::live};
    Option<uint32_t> header_fields_max{*this,
                                       "header_fields_max",
                                       100,
                                       {.min = 10, .max = 1000},
                                       "Header fields in one request, 431 beyond it.",
                                       Reload::live};
    Option<uint32_t> body_bytes_max{*this,
                                    "body_bytes_max",
                                    16'384,
                                    {.min = 1024, .max = 1'048'576},
                                    "The largest body from a buyer, 413 beyond it, before it is read. A "
                                    "purchase needs a few hundred bytes.",
                                    Reload::live};
    Option<uint32_t> header_deadline_ms{*this,
                                        "header_deadline_ms",
                                        10'000,
                                        {.min = 100, .max = 600'000},
                                        "How long a request's header may take to arrive, and a new "
                                        "connection's first request. Shorter sheds slow attackers sooner; "
                                        "longer forgives poor mobile networks. As all deadlines and sizes, "
                                        "a changed one holds for connections made after it.",
                                        Reload::live};
    Option<uint32_t> body_deadline_ms{*this,
                                      "body_deadline_ms",
                                      10'000,
                                      {.min = 100, .max = 600'000},
                                      "How long a request's body may take to arrive, after its header.",
                                      Reload::live};
    Option<uint32_t> write_deadline_ms{
        *this,
        "write_deadline_ms",
        10'000,
        {.min = 100, .max = 600'000},
        "How long a client may take to read an answer before its connection is closed.",
        Reload::live};
    Option<uint32_t> idle_deadline_ms{
        *this,
        "idle_deadline_ms",
        60'000,
        {.min = 100, .max = 3'600'000},
        "How long a kept-alive connection may stay silent. Longer than the proxy in front keeps its own, or "
        "the proxy meets closed ones.",
        Reload::live};
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
        "buyer's name. Not needed where the keys come from a file or a URL."};
    Option<std::string> keys_file{
        *this, "keys_file", "", optional_path_rule,
        "A file of keys (JWKS: HS256, ES256, EdDSA). With public keys alone this server can check tokens "
        "and make none. Read again within a second when it changes."};
    Option<std::string> jwks_url{
        *this, "jwks_url", "", url_rule,
        "Where the shop publishes its keys (JWKS). Fetched off the purchase's way; a failed fetch keeps "
        "the keys that are there."};
    Option<uint32_t> jwks_refresh_s{
        *this,
        "jwks_refresh_s",
        300,
        {.min = 1, .max = 86'400},
        "How often jwks_url is fetched. Shorter follows a rotation sooner, longer spares the shop."};
    Option<std::string> issuer{
        *this, "issuer", "", issuer_rule, "The `iss` that a token must have; empty takes any.", Reload::live};
    Option<std::string> audience{
        *this,       "audience", "", any_text_rule, "The `aud` that a token must name; empty takes any.",
        Reload::live};
    Option<uint32_t> skew_s{
        *this,       "skew_s", 30, {.max = 30}, "How far the shop's clock may differ from this one's.",
        Reload::live};
    Option<std::string> cookie{
        *this,
        "cookie",
        "",
        cookie_name_rule,
        "The cookie in which a browser brings the token, where no Authorization header does; empty takes "
        "none. Changing calls must then come from the server's own site or one of server.origins.",
        Reload::live};
    Option<std::string> check_claim{
        *this,
        "check_claim",
        "check",
        claim_rule,
        "The claim by which the shop raises or waives the human check for one buyer: none, pow or image.",
        Reload::live};
};

struct LimitsOptions : OptionGroup {
    using OptionGroup::OptionGroup;

    Option<uint32_t> address_per_second{
        *this,
        "address_per_second",
        100,
        {.max = 1'000'000},
        "Requests of one address per second (IPv6: of one /64), 429 beyond it; 0 sets no limit. Lower stops "
        "a lone attacker sooner; higher forgives offices and carriers that share an address.",
        Reload::live};
    Option<uint32_t> address_burst{*this,
                                   "address_burst",
                                   200,
                                   {.min = 1, .max = 1'000'000},
                                   "How many of them may come at once (token_bucket).",
                                   Reload::live};
    Option<std::string> address_policy{
        *this,
        "address_policy",
        "token_bucket",
        limit_policy_rule,
        "How they are counted: token_bucket forgives bursts, sliding_window passes exactly so many in any "
        "second (64 at most), leaky_bucket spaces them evenly.",
        Reload::live};
    Option<uint32_t> buyer_per_minute{
        *this,
        "buyer_per_minute",
        10,
        {.max = 1'000'000},
        "Purchases that one buyer may try per minute, 429 beyond it; 0 sets no limit. Repeating an accepted "
        "purchase does not count.",
        Reload::live};
    Option<uint32_t> buyer_burst{*this,
                                 "buyer_burst",
                                 10,
                                 {.min = 1, .max = 1'000'000},
                                 "How many of them may come at once (token_bucket).",
                                 Reload::live};
    Option<std::string> buyer_policy{*this,
                                     "buyer_policy",
                                     "sliding_window",
                                     limit_policy_rule,
                                     "How they are counted, as for addresses.",
                                     Reload::live};
    Option<uint32_t> checks_per_minute{
        *this,
        "checks_per_minute",
        30,
        {.max = 1'000'000},
        "Human checks that one buyer may ask for or answer per minute, 429 beyond it; 0 sets no limit.",
        Reload::live};
    Option<uint32_t> global_per_second{
        *this,
        "global_per_second",
        50'000,
        {.max = 100'000'000},
        "Requests of everybody per second, 429 beyond it; 0 sets no limit. What this machine can answer, "
        "with some room.",
        Reload::live};
    Option<uint32_t> global_burst{*this,
                                  "global_burst",
                                  50'000,
                                  {.min = 1, .max = 100'000'000},
                                  "How many of them may come at once.",
                                  Reload::live};
    Option<uint32_t> buyers_per_address_max{
        *this,
        "buyers_per_address_max",
        20,
        {.max = 64},
        "Distinct buyers behind one address in one sale, 429 beyond it; 0 sets no limit. Lower stops farms "
        "of accounts; higher forgives offices and carriers. A sale may have its own.",
        Reload::live};
    Option<uint32_t> keys_max{
        *this,
        "keys_max",
        limit_keys_default,
        {.min = 1024, .max = 16'777'216, .power_of_two = true},
        "Addresses, and buyers, that are told apart at a time. Beyond it new ones share what is left, "
        "stricter, so that a flood of addresses resets nobody's limit. Each takes about 200 bytes, from "
        "the first sale's warm-up on."};
};

struct ChecksOptions : OptionGroup {
    using OptionGroup::OptionGroup;

    Option<uint32_t> pow_number_max{
        *this,
        "pow_number_max",
        50'000,
        {.min = 1000, .max = 10'000'000},
        "How hard the proof of work is: half as many hashes on average. 50,000 take a phone a fraction of "
        "a second; more cost a bot more, and an old phone, too. A sale may have its own.",
        Reload::live};
    Option<uint32_t> pow_target_per_second{
        *this,
        "pow_target_per_second",
        1000,
        {.min = 1, .max = 1'000'000},
        "Checks handed out per second above which the proof of work becomes harder, up to 16 times.",
        Reload::live};
    Option<uint32_t> image_pool{
        *this,
        "image_pool",
        1000,
        {.min = 16, .max = 100'000},
        "Images drawn ahead, about 8 KiB each. When they run out in the rush, images are handed out again "
        "while new ones are drawn."};
    Option<uint32_t> burned_max{
        *this,
        "burned_max",
        1'048'576,
        {.min = 1024, .max = 67'108'864, .power_of_two = true},
        "Answered checks that are remembered until they have expired, 8 bytes each; 503 beyond it. More "
        "than the checks answered in eight minutes."};
};

struct TokensOptions : OptionGroup {
    using OptionGroup::OptionGroup;

    Option<std::string> secret{
        *this,
        "secret",
        "",
        optional_secret_rule,
        "What purchase tokens and checks are signed with. Empty derives it from admin.key. Whoever has it "
        "can pass every human check.",
        Reload::live};
    Option<std::string> secret_previous{
        *this,
        "secret_previous",
        "",
        optional_secret_rule,
        "The secret before the last change: what it signed is still taken. Change tokens.secret, put the "
        "old one here, reload; take it out when the sales that it signed for are over, or their winners can "
        "no "
        "longer find their purchases by their tokens.",
        Reload::live};
    Option<uint32_t> life_s{
        *this,
        "life_s",
        600,
        {.min = 30, .max = 86'400},
        "How long a purchase token can be used, from the start of the sale or from its making, whichever is "
        "later.",
        Reload::live};
};

struct RiskOptions : OptionGroup {
    using OptionGroup::OptionGroup;

    Option<std::string> lists_file{
        *this, "lists_file", "", optional_path_rule,
        "A file of block and allow lists, a line each: block address 203.0.113.0/24, allow buyer alice. "
        "Read again within a second when it changes."};
    Option<uint32_t> strikes_slow{
        *this,
        "strikes_slow",
        5,
        {.min = 1, .max = 1000},
        "Strikes from which a buyer is slowed: a failed check and a refused token are one, an abandoned hold "
        "is two.",
        Reload::live};
    Option<uint32_t> strikes_bar{*this,
                                 "strikes_bar",
                                 10,
                                 {.min = 1, .max = 1000},
                                 "Strikes from which a buyer is barred, until enough are forgotten.",
                                 Reload::live};
    Option<uint32_t> strikes_forget_s{*this,
                                      "strikes_forget_s",
                                      60,
                                      {.min = 1, .max = 86'400},
                                      "How long until one strike is forgotten.",
                                      Reload::live};
    Option<uint32_t> slow_every_s{
        *this, "slow_every_s", 5, {.min = 1, .max = 3600}, "How often a slowed buyer may try.", Reload::live};
};

struct OverloadOptions : OptionGroup {
    using OptionGroup::OptionGroup;

    Option<bool> detect{
        *this,
        "detect",
        true,
        {},
        "Whether the server leaves work out by itself when requests queue up: first browsing, then all but "
        "purchases. It goes back by itself.",
        Reload::live};
    Option<uint32_t> gate_delay_ms_max{
        *this,
        "gate_delay_ms_max",
        20,
        {.min = 1, .max = 10'000},
        "How long work may wait for a gate thread before it counts as overload.",
        Reload::live};
    Option<uint32_t> queue_delay_ms_max{
        *this,
        "queue_delay_ms_max",
        500,
        {.min = 1, .max = 60'000},
        "How long the book's work may make a purchase wait before it counts as overload; waiting for "
        "shard.rate_per_second_max is none.",
        Reload::live};
};

struct StoreOptions : OptionGroup {
    using OptionGroup::OptionGroup;

    Option<std::string> backend{
        *this, "backend", "embedded", backend_rule,
        "Where sales live. embedded keeps everything in this process and its data folder, with no set-up; "
        "cluster shares them among any number of processes over redis, kafka and postgres, for a shop that "
        "has "
        "outgrown one machine."};
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
        "buyer's client waits, work is done for people who have left.",
        Reload::live};
    Option<uint32_t> rate_per_second_max{
        *this,
        "rate_per_second_max",
        0,
        {.max = 10'000'000},
        "Purchases put to the book per second, by each process; 0 as many as it can take. Lower spares a "
        "slow disk; the rest wait their turn, and who would wait longer than wait_ms_max is refused at once.",
        Reload::live};
    Option<uint32_t> batch_max{*this,
                               "batch_max",
                               1024,
                               {.min = 1, .max = 65'536},
                               "Purchases decided in one commit of the embedded store. More share one fsync, "
                               "fewer wait for each other. "
                               "On the cluster it is not used: a call of Redis takes up to 256."};
};

struct OrdersOptions : OptionGroup {
    using OptionGroup::OptionGroup;

    Option<uint32_t> rate_per_second_max{
        *this,
        "rate_per_second_max",
        0,
        {.max = 1'000'000},
        "Orders made from acceptances per second, by each process that makes them; 0 what suits the store: "
        "20000 in the embedded one, 5000 in PostgreSQL, which has others to serve. Lower spares the database "
        "and the shop behind; winners then wait longer for their order, never for their yes."};
    Option<uint32_t> rate_per_second_in_rush{
        *this,
        "rate_per_second_in_rush",
        5000,
        {.min = 1, .max = 1'000'000},
        "The same while purchases come in, where that is less than rate_per_second_max: first the machine is "
        "theirs. On the cluster it is not used: there the orders have machines of their own."};
    Option<uint32_t> batch_max{
        *this,
        "batch_max",
        32'768,
        {.min = 1, .max = 65'536},
        "Orders made in one transaction; never more than their rate allows in a second, so it tells only "
        "where "
        "it is lower than that. Fewer lets look-ups and operator calls in sooner, more is cheaper."};
    Option<uint32_t> node{
        *this,
        "node",
        0,
        {.max = 1023},
        "This process's number inside order ids, of the embedded store. Processes whose orders "
        "meet in one place need different ones. On the cluster it is not used: PostgreSQL gives "
        "each process its own."};
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

struct EventsOptions : OptionGroup {
    using OptionGroup::OptionGroup;

    Option<uint32_t> streams_max{
        *this,
        "streams_max",
        10'000,
        {.min = 1, .max = 1'000'000},
        "Event streams open at once, 503 beyond it; their buyers can still ask. Each takes a connection for "
        "as long as it is open, and of one gate thread's connections never more than half are streams."};
    Option<uint32_t> streams_per_buyer_max{
        *this,
        "streams_per_buyer_max",
        5,
        {.min = 1, .max = 1000},
        "Event streams of one buyer, 503 beyond it: a tab or a device each."};
    Option<uint32_t> stream_s_max{
        *this,
        "stream_s_max",
        900,
        {.min = 1, .max = 86'400},
        "How long a stream is kept open; a client that still listens comes back by itself and misses "
        "nothing. Longer spares new connections, shorter notices sooner that a buyer's token has ended."};
    Option<uint32_t> heartbeat_s{
        *this,
        "heartbeat_s",
        15,
        {.min = 1, .max = 300},
        "How often a stream says that it is still there. Below the patience of every proxy on the way; each "
        "time costs a look-up."};
};

struct LogOptions : OptionGroup {
    using OptionGroup::OptionGroup;

    Option<std::string> level{
        *this,
        "level",
        "info",
        log_level_rule,
        "The least important kind of line that is written: info tells of sales, starts and stops, warn and "
        "error of what somebody should look at. No level writes a line per request, and debug has nothing "
        "to add to info yet.",
        Reload::live};
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
    LimitsOptions limits{groups_, "limits"};
    ChecksOptions checks{groups_, "checks"};
    TokensOptions tokens{groups_, "tokens"};
    RiskOptions risk{groups_, "risk"};
    OverloadOptions overload{groups_, "overload"};
    StoreOptions store{groups_, "store"};
    RedisOptions redis{groups_, "redis"};
    KafkaOptions kafka{groups_, "kafka"};
    PostgresOptions postgres{groups_, "postgres"};
    ShardOptions shard{groups_, "shard"};
    OrdersOptions orders{groups_, "orders"};
    PaymentsOptions payments{groups_, "payments"};
    WebhooksOptions webhooks{groups_, "webhooks"};
    AuditOptions audit{groups_, "audit"};
    LookupsOptions lookups{groups_, "lookups"};
    EventsOptions events{groups_, "events"};
    PageOptions page{groups_, "page"};
    LogOptions log{groups_, "log"};

    std::string file;  // the one that was read; empty if none was

    // In the order of the declarations.
    const std::vector<OptionGroup*>& groups() const { return groups_; }
    std::vector<const AnyOption*> options() const;

    AnyOption* find(std::string_view name);
};

}  // namespace doorbuster
