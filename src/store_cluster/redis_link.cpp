#include "store_cluster/redis_link.hpp"

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/post.hpp>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "base/log.hpp"

namespace doorbuster {

namespace asio = boost::asio;

std::shared_ptr<RedisLink> RedisLink::open(asio::io_context& context, const Options& options,
                                           Listener& listener) {
    std::shared_ptr<RedisLink> link(new RedisLink(context, options, listener));
    link->dial();
    return link;
}

RedisLink::RedisLink(asio::io_context& context, const Options& options, Listener& listener)
    : context_(context),
      options_(options),
      listener_(&listener),
      descriptor_(context),
      timer_(context),
      resolver_(context) {}

void RedisLink::dial() {
    self_ = shared_from_this();
    const RedisAddress& address = options_.address;
    boost::system::error_code is_name;
    asio::ip::make_address(address.host, is_name);
    if (address.socket.empty() && is_name) return look_up();
    connect(address.host);
}

void RedisLink::look_up() {
    timer_.expires_after(options_.connect_max);
    timer_.async_wait([self = shared_from_this()](const boost::system::error_code& error) {
        if (!error && self->redis_ == nullptr && self->self_ != nullptr) self->closed();
    });
    resolver_.async_resolve(
        options_.address.host, "",
        [self = shared_from_this()](const boost::system::error_code& error, const auto& found) {
            if (self->self_ == nullptr) return;  // it took too long, or nobody wants it any more
            if (error) {
                log_warn("the host of Redis is not found",
                         {{"host", self->options_.address.host}, {"error", error.message()}});
                return self->closed();
            }
            // As hiredis does: a Redis that listens on both is rarer than one that listens on IPv4.
            const auto first =
                std::ranges::find_if(found, [](const auto& one) { return one.endpoint().address().is_v4(); });
            self->connect((first == found.end() ? found.begin() : first)->endpoint().address().to_string());
        });
}

void RedisLink::connect(const std::string& host) {
    const RedisAddress& address = options_.address;
    redis_ = address.socket.empty() ? redisAsyncConnect(host.c_str(), address.port)
                                    : redisAsyncConnectUnix(address.socket.c_str());
    if (redis_ == nullptr || redis_->err != 0) {
        if (redis_ != nullptr) redisAsyncFree(redis_);
        closed();
        return;
    }
    descriptor_.assign(redis_->c.fd);
    redis_->ev.data = this;
    redis_->ev.addRead = [](void* link) {
        static_cast<RedisLink*>(link)->wants_read_ = true;
        static_cast<RedisLink*>(link)->wait_to_read();
    };
    redis_->ev.delRead = [](void* link) { static_cast<RedisLink*>(link)->wants_read_ = false; };
    redis_->ev.addWrite = [](void* link) {
        static_cast<RedisLink*>(link)->wants_write_ = true;
        static_cast<RedisLink*>(link)->wait_to_write();
    };
    redis_->ev.delWrite = [](void* link) { static_cast<RedisLink*>(link)->wants_write_ = false; };
    redis_->ev.cleanup = [](void* link) { static_cast<RedisLink*>(link)->closed(); };
    greet();
}

// Up is who has answered, and knows who we are.
void RedisLink::greet() {
    const RedisAddress& address = options_.address;
    const RedisCall greeting =
        address.user.empty() ? RedisCall{"PING"} : RedisCall{"AUTH", address.user, address.password};
    write(greeting, [this](const RedisResult<const redisReply*>& reply) {
        if (!reply) return;
        if (const auto error = error_in(**reply)) {
            log_warn("Redis turns a connection away", {{"said", error->detail}});
            return close(RedisErrc::unreachable);
        }
        is_up_ = true;
        timer_.cancel();  // it was set to the patience of dialling
        is_timed_ = false;
        if (listener_ != nullptr) listener_->link_up(*this);
    });
    waiting_.back().due = std::chrono::steady_clock::now() + options_.connect_max;
    watch(waiting_.back().due);
}

void RedisLink::send(const RedisCall& call, RedisAnswered answered) {
    CHECK(is_up_);
    write(call, std::move(answered));
    if (!is_timed_) watch(waiting_.front().due);
}

void RedisLink::write(const RedisCall& call, RedisAnswered answered) {
    std::vector<const char*> words;
    std::vector<size_t> sizes;
    words.reserve(call.size());
    sizes.reserve(call.size());
    for (const std::string& word : call) {
        words.push_back(word.data());
        sizes.push_back(word.size());
    }
    waiting_.push_back({std::move(answered), std::chrono::steady_clock::now() + options_.call_max});
    const int sent = redisAsyncCommandArgv(
        redis_,
        [](redisAsyncContext* redis, void* reply, void*) {
            static_cast<RedisLink*>(redis->ev.data)->answer_first(static_cast<redisReply*>(reply));
        },
        nullptr, static_cast<int>(words.size()), words.data(), sizes.data());
    CHECK(sent == REDIS_OK);  // it refuses only on a connection that is being closed
}

void RedisLink::answer_first(redisReply* reply) {
    CHECK(!waiting_.empty());
    const Waiting first = std::move(waiting_.front());
    waiting_.pop_front();
    if (reply != nullptr) return first.answered(static_cast<const redisReply*>(reply));
    const bool is_late = why_closed_ == RedisErrc::late;
    is_up_ = false;
    // It was written, or may have been: Redis may have carried it out.
    first.answered(RedisError{why_closed_, is_late ? "no answer in time" : "the connection ended", true});
}

void RedisLink::watch(Timepoint due) {
    is_timed_ = true;
    timer_.expires_at(due);
    timer_.async_wait([self = shared_from_this()](const boost::system::error_code& error) {
        if (error || self->redis_ == nullptr) return;
        self->is_timed_ = false;
        if (self->waiting_.empty()) return;
        if (self->waiting_.front().due > std::chrono::steady_clock::now())
            return self->watch(self->waiting_.front().due);
        self->close(RedisErrc::late);
    });
}

void RedisLink::close(RedisErrc why) {
    is_up_ = false;
    why_closed_ = why;
    if (redis_ != nullptr) redisAsyncFree(redis_);
}

void RedisLink::end() {
    listener_ = nullptr;
    if (redis_ == nullptr) {  // the host is looked up in vain
        timer_.cancel();
        resolver_.cancel();
        self_.reset();
    }
    close(RedisErrc::unreachable);
}

// hiredis has told those who wait, and frees itself next; the descriptor is its to close.
void RedisLink::closed() {
    redis_ = nullptr;
    is_up_ = wants_read_ = wants_write_ = false;
    if (descriptor_.is_open()) descriptor_.release();
    timer_.cancel();
    asio::post(context_, [self = std::exchange(self_, nullptr)] {
        if (self->listener_ != nullptr) self->listener_->link_down(*self);
    });
}

void RedisLink::wait_to_read() {
    if (std::exchange(waits_read_, true)) return;
    descriptor_.async_wait(descriptor_.wait_read,
                           [self = shared_from_this()](const boost::system::error_code& error) {
                               self->waits_read_ = false;
                               if (!error && self->wants_read_) redisAsyncHandleRead(self->redis_);
                           });
}

void RedisLink::wait_to_write() {
    if (std::exchange(waits_write_, true)) return;
    descriptor_.async_wait(descriptor_.wait_write,
                           [self = shared_from_this()](const boost::system::error_code& error) {
                               self->waits_write_ = false;
                               if (!error && self->wants_write_) redisAsyncHandleWrite(self->redis_);
                           });
}

}  // namespace doorbuster
