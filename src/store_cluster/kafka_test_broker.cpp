#include "store_cluster/kafka_test_broker.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include "base/check.hpp"

namespace doorbuster::testing {

namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

// A few seconds where it has a core to itself.
constexpr auto start_max = 180s;
constexpr int answer_ms_max = 500;

[[noreturn]] void give_up(const std::string& why) {
    std::fprintf(stderr, "Kafka for tests: %s\n", why.c_str());
    std::exit(1);
}

// A loopback port that nobody has at this moment. Below those that the kernel gives to outgoing
// connections: one of them could take it while the broker is down.
std::string free_port() {
    std::random_device random;
    std::uniform_int_distribution<uint16_t> ports(10'000, 32'000);
    for (int tries = 0; tries < 100; ++tries) {
        const uint16_t port = ports(random);
        const int listener = socket(AF_INET, SOCK_STREAM, 0);
        sockaddr_in name{};
        name.sin_family = AF_INET;
        name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        name.sin_port = htons(port);
        const bool is_free = bind(listener, reinterpret_cast<sockaddr*>(&name), sizeof name) == 0;
        close(listener);
        if (is_free) return std::to_string(port);
    }
    give_up("no free port");
}

std::string fetch() {
    // What it does goes to stderr as it does it.
    const std::string command = "'" DOORBUSTER_ROOT "/scripts/kafka' >/dev/null";
    if (std::system(command.c_str()) == 0) return {};
    return "there is no Kafka broker here, and scripts/kafka could not fetch one: see what it said above";
}

}  // namespace

const std::string& KafkaBroker::is_missing() {
    static const std::string why = fetch();
    return why;
}

KafkaBroker::KafkaBroker() : port_(free_port()), controller_port_(free_port()) {
    folder_ = std::filesystem::temp_directory_path() / "doorbuster-kafka-XXXXXX";
    CHECK(mkdtemp(folder_.data()) != nullptr);
    brokers_ = "127.0.0.1:" + port_;
    start();
}

KafkaBroker::~KafkaBroker() {
    stop(SIGKILL);
    std::filesystem::remove_all(folder_);
}

void KafkaBroker::start() {
    CHECK(process_ < 0);
    process_ = fork();
    CHECK(process_ >= 0);
    if (process_ == 0) {
        // A test that dies takes its broker along.
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        const int log = open((folder_ + "/log").c_str(), O_CREAT | O_WRONLY | O_APPEND, 0600);
        if (log < 0 || dup2(log, 1) < 0 || dup2(log, 2) < 0) _exit(126);
        execl(DOORBUSTER_ROOT "/tests/lib/kafka-broker", "kafka-broker", folder_.c_str(), port_.c_str(),
              controller_port_.c_str(), nullptr);
        _exit(127);
    }
    const auto deadline = steady_clock::now() + start_max;
    bool has_ended = false;
    while (!has_ended && steady_clock::now() < deadline) {
        if (answers_and_leads()) return;
        has_ended = waitpid(process_, nullptr, WNOHANG) != 0;
    }
    std::ifstream log(folder_ + "/log");
    give_up("it does not start: " + std::string(std::istreambuf_iterator<char>(log), {}));
}

bool KafkaBroker::answers_and_leads() const {
    auto conf = kafka_conf(brokers_, {});
    CHECK(conf.has_value());
    rd_kafka_conf_set_log_cb(conf->get(), nullptr);  // that it is not there yet is no news
    auto client = kafka_client(RD_KAFKA_PRODUCER, std::move(*conf));
    CHECK(client.has_value());
    const rd_kafka_metadata_t* answer = nullptr;
    if (rd_kafka_metadata(client->get(), 1, nullptr, &answer, answer_ms_max) != 0) return false;
    const KafkaMetadata metadata(answer);
    for (int i = 0; i < metadata->topic_cnt; ++i) {
        const rd_kafka_metadata_topic_t& topic = metadata->topics[i];
        for (int j = 0; j < topic.partition_cnt; ++j) {
            if (topic.partitions[j].leader < 0) return false;
        }
    }
    return metadata->broker_cnt > 0;
}

void KafkaBroker::stop(int signal) {
    if (process_ < 0) return;
    kill(process_, signal);
    kill(process_, SIGCONT);
    waitpid(process_, nullptr, 0);
    process_ = -1;
}

void KafkaBroker::freeze() {
    CHECK(process_ > 0);
    kill(process_, SIGSTOP);
    // It stands still when the kernel says so.
    CHECK(waitpid(process_, nullptr, WUNTRACED) == process_);
}

void KafkaBroker::thaw() {
    CHECK(process_ > 0);
    kill(process_, SIGCONT);
}

void KafkaBroker::ensure_running() {
    if (process_ < 0) {
        start();
    } else {
        thaw();
    }
}

KafkaTopicTerms KafkaBroker::terms(const std::string& topic, int32_t partitions) const {
    return {.name = topic, .partitions = partitions, .replicas = 1, .insync_min = 1};
}

std::string KafkaBroker::create_topic(int32_t partitions) {
    auto topics = KafkaTopics::open({.brokers = brokers_, .wait_max = 60s});
    CHECK(topics.has_value());
    const std::string name = fmt::format("ledger-{}", ++topics_);
    if (const auto created = topics->create(terms(name, partitions)); !created) {
        give_up(created.error().text());
    }
    return name;
}

KafkaBroker& kafka() {
    static KafkaBroker broker;
    return broker;
}

}  // namespace doorbuster::testing
