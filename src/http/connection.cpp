#include "http/connection.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/check.hpp"
#include "http/connections.hpp"
#include "http/language.hpp"
#include "http/response.hpp"

namespace doorbuster {

namespace {

// Beyond this the answers to pipelined requests leave before the next one is handled.
constexpr size_t out_bytes_max = 64 * 1024;

constexpr std::string_view continue_line = "HTTP/1.1 100 Continue\r\n\r\n";

}  // namespace

Connection::Connection(Connections& home, Descriptor socket, const Address& peer)
    : home_(home),
      socket_(std::move(socket)),
      peer_(peer),
      options_(home.options()),
      // The scan may find a head too large only after a byte too many; one page of room is ample.
      capacity_(options_->header_bytes_max + options_->body_bytes_max + 4096),
      buffer_(std::make_unique_for_overwrite<char[]>(capacity_)) {}

bool Connection::begin() {
    if (!home_.loop().watch(socket_, *this)) return false;
    receive();
    return true;
}

void Connection::ready(EventLoop::Readiness is) {
    readable_ = readable_ || is.readable;
    ended_ = ended_ || is.ended;
    if (is.writable && std::exchange(writing_, false)) proceed();
    if (reading_ && readable_) read();
    settle();
}

void Connection::resume() {
    resuming_ = false;
    proceed();
    settle();
}

void Connection::tick(Time now) {
    if (closed_ || now < deadline_) return;
    home_.count_deadline_closed();
    switch (waiting_) {
        case Waiting::head:
        case Waiting::body:
            reject(Code::timeout);
            if (flush()) linger();
            break;
        case Waiting::write:
            close_at_once();
            break;
        case Waiting::idle:
        case Waiting::answer:
        case Waiting::stream:
        case Waiting::linger:
            close();
    }
    settle();
}

void Connection::begin_drain() {
    if (stream_owner_ != nullptr) {
        drain_stream();
        return settle();
    }
    if (closed_ || waiting_ != Waiting::idle) return;
    if (!resuming_ && !has_unread()) close();  // else its request is read next, answered, and then it closes
    settle();
}

bool Connection::has_unread() {
    char byte;
    return ::recv(socket_.number(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
}

// Also what a read has stopped in front of, as it does at urgent data.
void Connection::read_unread() {
    readable_ = true;
    home_.loop().again(*this);
}

bool Connection::give_way() {
    CHECK(!closed_);
    switch (waiting_) {
        case Waiting::idle:
            if (resuming_) return false;
            if (has_unread()) {
                read_unread();
                return false;
            }
            close();
            break;
        case Waiting::head:
        case Waiting::body:
            // Refused in this very turn: the refusal leaves next, and nothing may follow it.
            if (closing_) return false;
            // Once for each request: who drips always has a byte on its way.
            if (has_unread() && !std::exchange(was_spared_, true)) {
                read_unread();
                home_.keeps_waiting(*this, Keeping::unfinished);
                return false;
            }
            reject(Code::timeout);
            (void)flush();  // as much as the kernel takes
            close();
            break;
        case Waiting::write:
            close_at_once();
            break;
        case Waiting::linger:
            close();
            break;
        case Waiting::answer:
        case Waiting::stream:
            CHECK(false);  // it waits for us
    }
    settle();
    return true;
}

Language Connection::language() const {
    return choose_language(head_.request.accept_language);
}
Gate& Connection::gate() {
    return home_.gate();
}

void Connection::take_up_answer() {
    CHECK(in_hand_);
    closing_ = closing_ || !head_.request.keep_alive || home_.is_draining();
}

void Connection::answer(const Response& response) {
    take_up_answer();
    append_answer(out_, response, framing(), home_.date());
    answered();
}

void Connection::refuse(Code code) {
    take_up_answer();
    append_refusal(out_, code, framing(), home_.date());
    answered();
}

void Connection::refuse(Code code, std::string_view headers) {
    take_up_answer();
    append_refusal(out_, code, headers, framing(), home_.date());
    answered();
}

void Connection::refuse(const Problem& problem) {
    take_up_answer();
    append_refusal(out_, problem, framing(), home_.date());
    answered();
}

void Connection::refuse(const PreparedRefusal& refusal, const PurchaseId& named) {
    take_up_answer();
    append_refusal(out_, refusal, named, framing(), home_.date());
    answered();
}

bool Connection::begin_stream(const Response& head, StreamOwner& owner, uint64_t stream) {
    CHECK(in_hand_);
    const bool goes_on = !closed_ && head_.request.method != Method::head;
    closing_ = true;
    append_stream_head(out_, head, added_headers_, home_.date());
    answered();
    begin_ = end_ = 0;  // as before any close, nothing behind it is read as a request
    if (!goes_on) return false;
    stream_owner_ = &owner;
    stream_ = stream;
    return true;
}

void Connection::send_piece(std::string_view piece) {
    CHECK(stream_owner_ != nullptr);
    if (lags()) {
        waiting_piece_ = piece;
    } else {
        out_ += piece;
    }
    proceed_later();
}

void Connection::end_stream() {
    CHECK(stream_owner_ != nullptr);
    stream_owner_ = nullptr;
    proceed_later();
}

Framing Connection::framing() const {
    return {.closes = closing_,
            .says_keep_alive = head_.is_http10,
            .is_head = head_.request.method == Method::head,
            .language = language(),
            .headers = added_headers_,
            .retry_after_s = home_.retry_after_s()};
}

void Connection::answered() {
    in_hand_ = false;
    begin_ = request_end_;
    if (begin_ == end_) begin_ = end_ = 0;
    scan_.reset();
    chunks_.reset();
    has_head_ = sent_continue_ = was_spared_ = false;
    added_headers_.clear();
    proceed_later();
}

// Not at once: the caller may be in the middle of something of its own.
void Connection::proceed_later() {
    if (handling_ || resuming_) return;
    resuming_ = true;
    home_.resume_later(*this);
}

// Takes up requests and sends answers until the client, the handler or the kernel has to
// move first. A loop: pipelined requests never nest.
void Connection::proceed() {
    if (closed_ || writing_) return;
    bool has_more = true;
    while (has_more) {
        const bool stopped_for_room = handle_requests();
        if (!flush()) return;
        has_more = take_waiting_piece() || stopped_for_room;
    }
    if (in_hand_) {
        wait_for(Waiting::answer);
    } else if (stream_owner_ != nullptr) {
        attend_stream();
    } else if (closing_) {
        linger();
    } else {
        receive();
        // One that was busy when the drain began.
        if (waiting_ == Waiting::idle && home_.is_draining() && !has_unread()) close();
    }
}

// True if it stopped because the output is full.
bool Connection::handle_requests() {
    while (!in_hand_ && !closing_) {
        if (out_.size() > out_bytes_max) return true;
        if (!take_request()) return false;
        in_hand_ = has_asked_ = true;
        wait_for(Waiting::answer);
        home_.count_request();
        handling_ = true;
        home_.handler().handle(*this);
        handling_ = false;
    }
    return false;
}

bool Connection::take_waiting_piece() {
    if (waiting_piece_.empty()) return false;
    out_ = std::exchange(waiting_piece_, {});
    return true;
}

bool Connection::take_request() {
    return (has_head_ || take_head()) && take_body();
}

bool Connection::take_head() {
    if (begin_ == end_) return false;
    const std::string_view bytes(buffer_.get() + begin_, end_ - begin_);
    switch (scan_.scan(
        bytes, {.bytes_max = options_->header_bytes_max, .fields_max = options_->header_fields_max})) {
        case HeadScan::Found::more_needed:
            return false;
        case HeadScan::Found::malformed:
            reject(Code::malformed);
            return false;
        case HeadScan::Found::too_large:
            reject(Code::headers_too_large);
            return false;
        case HeadScan::Found::complete:
            break;
    }
    if (!parse_head(bytes.substr(0, scan_.size()), head_)) {
        reject(Code::malformed);
        return false;
    }
    has_head_ = true;
    if (head_.content_length > options_->body_bytes_max) {
        reject(Code::body_too_large);
        return false;
    }
    return true;
}

bool Connection::take_body() {
    char* const body = buffer_.get() + begin_ + scan_.size();
    if (head_.is_chunked) {
        char* const raw = body + chunks_.body_size();
        const size_t raw_size = static_cast<size_t>(buffer_.get() + end_ - raw);
        const auto step = chunks_.decode(body, {raw, raw_size}, options_->body_bytes_max);
        switch (step.status) {
            case ChunkDecoder::Status::malformed:
                reject(Code::malformed);
                return false;
            case ChunkDecoder::Status::too_large:
                reject(Code::body_too_large);
                return false;
            case ChunkDecoder::Status::complete:
                head_.request.body = {body, chunks_.body_size()};
                request_end_ = static_cast<size_t>(raw + step.consumed - buffer_.get());
                return true;
            case ChunkDecoder::Status::more_needed:
                // All raw bytes are used up: the next ones go right behind the body.
                end_ = static_cast<size_t>(body - buffer_.get()) + chunks_.body_size();
        }
    } else {
        request_end_ = begin_ + scan_.size() + static_cast<size_t>(head_.content_length);
        if (request_end_ <= end_) {
            head_.request.body = {body, static_cast<size_t>(head_.content_length)};
            return true;
        }
    }
    if (head_.expects_continue && !sent_continue_) {
        sent_continue_ = true;
        out_ += continue_line;
    }
    return false;
}

// What the client sent cannot be trusted to have an end, so nothing behind it is read as
// a request: the answer, then the end of the connection.
void Connection::reject(Code code) {
    if (code != Code::timeout) home_.count_malformed();
    if (!has_head_) head_ = {};
    closing_ = true;
    append_refusal(out_, code, framing(), home_.date());
    begin_ = end_ = 0;
}

// Makes room behind a request that is still incomplete. Its head is read again, since
// the views into it have moved.
void Connection::move_to_front() {
    if (begin_ == 0) return;
    std::memmove(buffer_.get(), buffer_.get() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
    if (has_head_) CHECK(parse_head({buffer_.get(), scan_.size()}, head_));
}

void Connection::receive() {
    if (begin_ == end_) {
        wait_for(Waiting::idle);
    } else {
        wait_for(has_head_ ? Waiting::body : Waiting::head);
    }
    if (reading_) return;
    move_to_front();
    CHECK(end_ < capacity_);
    await_bytes();
}

// What is here already is read in the loop's next turn: a client that sends without a pause does
// not keep the others waiting.
void Connection::await_bytes() {
    reading_ = true;
    if (readable_) home_.loop().again(*this);
}

void Connection::read() {
    // What comes behind the last answer is read over.
    char* const into = buffer_.get() + (closing_ ? 0 : end_);
    const size_t room = capacity_ - (closing_ ? 0 : end_);
    ssize_t bytes;
    do {
        bytes = ::recv(socket_.number(), into, room, 0);
    } while (bytes < 0 && errno == EINTR);
    if (bytes < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
        readable_ = false;
        return;
    }
    reading_ = false;
    if (bytes <= 0) return close();
    // A short read has taken all; what comes behind it is an edge of its own.
    readable_ = ended_ || static_cast<size_t>(bytes) == room;
    received(static_cast<size_t>(bytes));
}

void Connection::received(size_t bytes) {
    if (closing_) {
        // While the answer has not gone yet, the rest waits.
        if (lingers()) linger();
    } else {
        end_ += bytes;
        handle_requests();
        // The answers of one turn leave together, after everybody's requests were handled: clients that
        // wait are woken in a row instead of one by one, and each half of the work keeps the caches warm.
        if (!in_hand_ || !out_.empty()) proceed_later();
    }
}

// True when all has gone; else it goes on when there is room, or is closed.
bool Connection::flush() {
    if (closed_ || writing_) return false;
    while (written_ < out_.size()) {
        const ssize_t sent =
            ::send(socket_.number(), out_.data() + written_, out_.size() - written_, MSG_NOSIGNAL);
        if (sent >= 0) {
            written_ += static_cast<size_t>(sent);
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            wait_until_writable();
            return false;
        } else if (errno != EINTR) {
            close();
            return false;
        }
    }
    written_ = 0;
    out_.clear();
    if (out_.capacity() > out_bytes_max) out_.shrink_to_fit();
    return true;
}

void Connection::wait_until_writable() {
    wait_for(Waiting::write);
    writing_ = true;
}

void Connection::wait_for(Waiting waiting) {
    // A deadline counts from the first byte; later ones do not move it.
    if (waiting == waiting_ && waiting != Waiting::idle) return;
    waiting_ = waiting;
    keeping_hook.unlink();
    const GateOptions& options = *options_;
    switch (waiting) {
        case Waiting::idle:
            deadline_ =
                home_.deadline_in(has_asked_ ? options.idle_deadline
                                             : std::min(options.header_deadline, options.idle_deadline));
            home_.keeps_waiting(*this, has_asked_ ? Keeping::idle : Keeping::silent);
            return;
        case Waiting::head:
            deadline_ = home_.deadline_in(options.header_deadline);
            home_.keeps_waiting(*this, Keeping::unfinished);
            return;
        case Waiting::body:
            deadline_ = home_.deadline_in(options.body_deadline);
            home_.keeps_waiting(*this, Keeping::unfinished);
            return;
        case Waiting::write:
        case Waiting::linger:
            deadline_ = home_.deadline_in(options.write_deadline);
            home_.keeps_waiting(*this, waiting == Waiting::linger ? Keeping::answered : Keeping::unread);
            return;
        case Waiting::answer:  // ours to give: a yes is not cut off
        case Waiting::stream:  // its owner ends it
            deadline_ = Time::max();
            return;
    }
}

void Connection::attend_stream() {
    if (home_.is_draining()) return drain_stream();
    wait_for(Waiting::stream);
    read_over();
}

// A stream is no promise, and its client can ask again: what the kernel does not take at
// once is not waited for.
void Connection::drain_stream() {
    forsake_stream();
    bool has_gone = flush();
    if (has_gone && take_waiting_piece()) has_gone = flush();
    if (has_gone) {
        linger();
    } else {
        close();
    }
}

void Connection::forsake_stream() {
    if (stream_owner_ != nullptr) std::exchange(stream_owner_, nullptr)->stream_ended(stream_);
}

// The answer has been handed to the kernel. Closing now, with bytes of the client still
// unread, would reset the connection and could take the answer away from it again.
void Connection::linger() {
    if (waiting_ != Waiting::linger) {
        wait_for(Waiting::linger);
        ::shutdown(socket_.number(), SHUT_WR);
        home_.lingering(*this);
    }
    read_over();
}

void Connection::read_over() {
    if (!reading_) await_bytes();
}

// The kernel must not go on offering bytes to a client that never reads.
void Connection::close_at_once() {
    const ::linger at_once{.l_onoff = 1, .l_linger = 0};
    ::setsockopt(socket_.number(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    close();
}

void Connection::close() {
    if (closed_) return;
    closed_ = true;
    reading_ = writing_ = false;
    keeping_hook.unlink();
    home_.loop().forget(*this);
    socket_.close();
    forsake_stream();
}

bool Connection::done() const {
    return closed_ && !in_hand_ && !resuming_;
}

void Connection::settle() {
    if (done()) home_.remove(*this);
}

}  // namespace doorbuster
