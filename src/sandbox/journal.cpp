#include "sandbox/journal.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <cerrno>
#include <cstring>
#include <fstream>

namespace doorbuster::sandbox {

namespace {

namespace json = boost::json;
constexpr auto failed = boost::system::in_place_error;

std::string text_of(const json::object& from, std::string_view name) {
    const json::value& text = from.at(name);
    return std::string(text.as_string());
}

}  // namespace

std::string journal_line(const Payment& payment) {
    json::object line = payment_json(payment, "");
    line.erase("payment_url");
    line["return_url"] = payment.intent.return_url;
    return json::serialize(line);
}

std::optional<Payment> parse_journal_line(std::string_view line) {
    try {
        const json::value value = json::parse(json::string_view(line.data(), line.size()));
        const json::object& from = value.as_object();
        const auto state = parse_state(text_of(from, "state"));
        Payment payment{.key = text_of(from, "key"),
                        .intent = {.amount_minor = from.at("amount_minor").to_number<int64_t>(),
                                   .currency = text_of(from, "currency"),
                                   .reference = text_of(from, "reference"),
                                   .return_url = text_of(from, "return_url")},
                        .captured_minor = from.at("captured_minor").to_number<int64_t>(),
                        .captured_currency = text_of(from, "captured_currency"),
                        .version = from.at("version").to_number<uint64_t>()};
        if (!state || !is_key(payment.key)) return std::nullopt;
        payment.state = *state;
        return payment;
    } catch (const std::exception&) {  // whatever is missing or of another type
        return std::nullopt;
    }
}

Result<Journal, std::string> Journal::open(const std::string& path,
                                           const std::function<void(const Payment&)>& restore) {
    using Opened = Result<Journal, std::string>;
    Journal journal(::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
    if (journal.file_ < 0) return Opened(failed, "cannot open '" + path + "': " + std::strerror(errno));

    std::ifstream lines(path, std::ios::binary);
    off_t whole = 0;
    size_t number = 0;
    for (std::string line; std::getline(lines, line) && !lines.eof();) {
        const auto payment = parse_journal_line(line);
        ++number;
        if (!payment) {
            return Opened(failed, "line " + std::to_string(number) + " of '" + path + "' is no payment");
        }
        restore(*payment);
        whole += static_cast<off_t>(line.size()) + 1;
    }
    if (::ftruncate(journal.file_, whole) != 0) {
        return Opened(failed, "cannot cut '" + path + "': " + std::strerror(errno));
    }
    return Opened(boost::system::in_place_value, std::move(journal));
}

Journal::~Journal() {
    if (file_ >= 0) ::close(file_);
}

Result<void, std::string> Journal::append(const Payment& payment) {
    const std::string line = journal_line(payment) + '\n';
    const ssize_t written = ::write(file_, line.data(), line.size());
    if (written == static_cast<ssize_t>(line.size())) return {};
    return std::string(written < 0 ? std::strerror(errno) : "no room is left");
}

}  // namespace doorbuster::sandbox
