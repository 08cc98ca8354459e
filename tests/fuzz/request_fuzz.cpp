// What the gate does with bytes from the wire: the head, its fields, the chunks of a body.
//
// The first byte says how large the packets are. However a request is cut into packets, it is
// read the same; what is read lies inside the bytes; and nothing ambiguous is ever accepted.
#include <algorithm>
#include <optional>

#include "base/check.hpp"
#include "funnel/client_address.hpp"
#include "funnel/cookie.hpp"
#include "funnel/origin.hpp"
#include "http/chunked.hpp"
#include "http/encoding.hpp"
#include "http/language.hpp"
#include "http/parser.hpp"
#include "http/route.hpp"

namespace doorbuster {
namespace {

constexpr HeadScan::Limits limits{.bytes_max = 1024, .fields_max = 12};
constexpr size_t body_bytes_max = 512;

struct Scanned {
    HeadScan::Found found;
    size_t size;
    friend bool operator==(const Scanned&, const Scanned&) = default;
};

Scanned scan(std::string_view bytes, size_t packet_size) {
    HeadScan scan;
    auto found = HeadScan::Found::more_needed;
    for (size_t end = 0; end < bytes.size() && found == HeadScan::Found::more_needed;) {
        end = std::min(bytes.size(), end + packet_size);
        found = scan.scan(bytes.substr(0, end), limits);
    }
    return {found, found == HeadScan::Found::complete ? scan.size() : 0};
}

struct Decoded {
    ChunkDecoder::Status status;
    std::string body;
    size_t consumed;
    friend bool operator==(const Decoded&, const Decoded&) = default;
};

// As a connection does it: what is decoded moves to the front, the next packet goes behind it.
Decoded decode(std::string_view bytes, size_t packet_size) {
    ChunkDecoder decoder;
    std::string buffer(bytes.size(), '\0');
    size_t taken = 0;
    while (taken < bytes.size()) {
        const std::string_view packet = bytes.substr(taken, packet_size);
        char* const raw = buffer.data() + decoder.body_size();
        std::copy(packet.begin(), packet.end(), raw);
        const auto step = decoder.decode(buffer.data(), {raw, packet.size()}, body_bytes_max);
        CHECK(step.consumed <= packet.size() && decoder.body_size() <= body_bytes_max);
        taken += step.consumed;
        if (step.status != ChunkDecoder::Status::more_needed) {
            return {step.status, buffer.substr(0, decoder.body_size()), taken};
        }
        CHECK(step.consumed == packet.size());
    }
    return {ChunkDecoder::Status::more_needed, buffer.substr(0, decoder.body_size()), taken};
}

void use(const Head& head, std::string_view text) {
    const Request& request = head.request;
    for (const std::string_view view : {request.path, request.query, request.authorization, request.cookie,
                                        request.host, request.origin, request.idempotency_key}) {
        CHECK(view.empty() || (view.data() >= text.data() && view.end() <= text.end()));
        CHECK(view.find_first_of(std::string_view("\r\n\0", 3)) == std::string_view::npos);
    }
    CHECK(request.path.starts_with('/'));
    CHECK(!head.is_chunked || (head.content_length == 0 && !head.is_http10));

    const PathParts path(request.path);
    for (size_t i = 0; i < path.size(); ++i) CHECK(!path[i].empty());
    static_cast<void>(query_field(request.query, "limit"));
    static_cast<void>(choose_language(request.accept_language));
    static_cast<void>(choose_encoding(request.accept_encoding, true));
    static_cast<void>(presented_token(request.authorization, request.cookie, "session"));
    static_cast<void>(is_own_site(request.origin, request.host, {}));
    static const AddressSet trusted({*AddressRange::parse("10.0.0.0/8"), *AddressRange::parse("fd00::/8")});
    const Address peer = *Address::parse("10.0.0.1");
    static_cast<void>(
        client_address(peer, std::span(request.forwarded_for).first(request.forwarded_lines), trusted));
}

void fuzz(std::string_view input) {
    const size_t packet_size = 1 + static_cast<uint8_t>(input.front());
    const std::string text(input.substr(1));  // on the heap, so that reading past its end is seen
    const Scanned scanned = scan(text, text.size());
    CHECK(scan(text, packet_size) == scanned);
    if (scanned.found != HeadScan::Found::complete) return;

    const std::string head_text = text.substr(0, scanned.size);
    Head head;
    if (!parse_head(head_text, head)) return;
    use(head, head_text);
    if (!head.is_chunked) return;
    const std::string rest = text.substr(scanned.size);
    if (!rest.empty()) CHECK(decode(rest, packet_size) == decode(rest, rest.size()));
}

}  // namespace
}  // namespace doorbuster

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    if (size > 1) doorbuster::fuzz({reinterpret_cast<const char*>(data), size});
    return 0;
}
