#include "nats/jetstream_adapter.hpp"

#include "nats/connect_options.hpp"
#include "nats/jetstream_replies.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <charconv>
#include <exception>
#include <new>
#include <random>
#include <system_error>
#include <utility>

namespace telegate::uplink {
namespace {

constexpr const char* name_reply = "name";    // of the stream
constexpr const char* stream_reply = "info";  // about the stream
constexpr const char* unavailable = "no stream has this subject, or JetStream is unavailable";

/// A subject that no other connection uses.
std::string random_inbox() {
    std::random_device random;
    std::string inbox = "_INBOX.telegate";
    for (int i = 0; i < 4; ++i) {
        inbox += '.' + std::to_string(random());
    }
    return inbox + '.';
}

/// Detects within a minute that the server's machine is gone, even if nothing is sent.
void keep_alive(int socket) {
    constexpr int on = 1;
    constexpr int idle_s = 30;
    constexpr int interval_s = 10;
    constexpr int probes = 3;
    ::setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    ::setsockopt(socket, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof idle_s);
    ::setsockopt(socket, IPPROTO_TCP, TCP_KEEPINTVL, &interval_s, sizeof interval_s);
    ::setsockopt(socket, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
}

/// Throws std::bad_alloc, which is the only way in which building a message can fail.
void check_memory(natsStatus status) {
    if (status != NATS_OK) {
        throw std::bad_alloc();
    }
}

std::string connect_error(natsStatus status) {
    if (status == NATS_NO_SERVER) {
        return "cannot connect: the host is unknown, or no server responds at this address";
    }
    return "cannot connect: " + nats_error_text(status);
}

}  // namespace

/// The functions of the event loop that libnats calls. They must not throw.
struct JetStreamAdapter::LoopCalls {
    template <class Call>
    static natsStatus guarded(const Call& call) noexcept {
        try {
            call();
            return NATS_OK;
        } catch (const std::bad_alloc&) {
            return NATS_NO_MEMORY;
        } catch (const std::exception&) {
            return NATS_ERR;
        }
    }
    static natsStatus attach(void** data, void* adapter, natsConnection* /*connection*/, natsSock socket) {
        *data = adapter;
        return guarded([&] { static_cast<JetStreamAdapter*>(adapter)->attach(socket); });
    }
    static natsStatus read(void* data, bool is_added) {
        auto* const adapter = static_cast<JetStreamAdapter*>(data);
        if (!is_added) {  // libnats closes the socket next
            adapter->socket_ = -1;
            adapter->loop_.unwatch();
        }
        return NATS_OK;
    }
    static natsStatus write(void* data, bool is_added) {
        auto* const adapter = static_cast<JetStreamAdapter*>(data);
        adapter->is_write_wanted_ = is_added;
        return guarded([&] {
            if (is_added) {
                adapter->loop_.wait_writable();
            }
        });
    }
    static natsStatus detach(void* /*data*/) { return NATS_OK; }
};

JetStreamAdapter::JetStreamAdapter(AdapterLoop& loop, AdapterOptions options, Events events)
    : loop_(loop), options_(std::move(options)), events_(std::move(events)) {}

JetStreamAdapter::~JetStreamAdapter() {
    close();
}

void JetStreamAdapter::connect() {
    state_ = State::connecting;
    loop_.call_later([this] { later(); });
}

void JetStreamAdapter::later() {
    if (state_ == State::connecting && connection_ == nullptr && failure_.empty()) {
        return open();
    }
    for (const std::uint64_t number : std::exchange(too_large_, {})) {
        events_.refused(number, Refusal::permanent,
                        "message is larger than the server's max_payload of " +
                            std::to_string(natsConnection_GetMaxPayload(connection_.get())) +
                            " bytes; lower batch_bytes");
    }
    if (!failure_.empty()) {
        fail(std::exchange(failure_, {}));
    }
}

/// Opens the connection, and begins to check the stream.
void JetStreamAdapter::open() {
    server_index_ = next_server_;
    next_server_ = (server_index_ + 1) % options_.urls.size();
    server_ = options_.urls[server_index_];
    try {
        const NatsOptions options = make_connect_options(options_, server_, connect_max);
        check_nats(natsOptions_SetEventLoop(options.get(), this, LoopCalls::attach, LoopCalls::read, LoopCalls::write,
                                            LoopCalls::detach),
                   "event loop");
        natsConnection* connection = nullptr;
        if (const natsStatus status = natsConnection_Connect(&connection, options.get()); status != NATS_OK) {
            socket_ = -1;  // libnats has closed it
            loop_.unwatch();
            return fail(connect_error(status));
        }
        connection_.reset(connection);
        if (natsConnection_HasHeaderSupport(connection) != NATS_OK) {
            return fail("the server does not support headers: NATS 2.2 or later is required");
        }
        inbox_ = random_inbox();
        natsSubscription* replies = nullptr;
        check_nats(natsConnection_SubscribeSync(&replies, connection, (inbox_ + '*').c_str()), "subscription");
        replies_.reset(replies);
        state_ = State::checking;
        request("$JS.API.STREAM.NAMES", name_reply, stream_name_request(options_.subjects));
    } catch (const std::bad_alloc&) {
        close();
        throw;
    } catch (const std::exception& error) {
        fail(error.what());
    }
}

void JetStreamAdapter::attach(int socket) {
    keep_alive(socket);
    loop_.watch(
        socket, [this] { read(); }, [this] { write(); });
    socket_ = socket;
    loop_.wait_readable();
}

void JetStreamAdapter::request(const std::string& subject, const char* reply, const std::string& body) {
    check_nats(natsConnection_PublishRequest(connection_.get(), subject.c_str(), (inbox_ + reply).c_str(), body.data(),
                                             static_cast<int>(body.size())),
               "cannot request " + subject);
}

void JetStreamAdapter::close() {
    state_ = State::closed;
    loop_.cancel_later();
    failure_.clear();
    refused_check_.clear();
    too_large_.clear();
    stream_.clear();
    if (socket_ >= 0) {
        // Otherwise, natsConnection_Close() would wait for the server to confirm what is not written yet.
        constexpr int reads_max = 1'024;
        ::shutdown(socket_, SHUT_RDWR);
        for (int i = 0; i < reads_max && socket_ >= 0; ++i) {
            natsConnection_ProcessReadEvent(connection_.get());
        }
    }
    replies_.reset();
    connection_.reset();
    is_write_wanted_ = false;
}

void JetStreamAdapter::fail_later(std::string reason) {
    failure_ = std::move(reason);
    loop_.call_later([this] { later(); });
}

void JetStreamAdapter::fail(const std::string& reason) {
    close();
    events_.down(server_ + ": " + reason);
}

void JetStreamAdapter::read() {
    natsConnection_ProcessReadEvent(connection_.get());
    receive();
    if (is_usable()) {
        loop_.wait_readable();
    }
}

void JetStreamAdapter::write() {
    if (is_write_wanted_) {
        natsConnection_ProcessWriteEvent(connection_.get());
    }
    if (is_usable() && is_write_wanted_) {
        loop_.wait_writable();
    }
}

/// Reports errors of the connection. Returns whether it can be used.
bool JetStreamAdapter::is_usable() {
    if (state_ == State::closed) {
        return false;
    }
    const char* text = nullptr;
    const natsStatus error = natsConnection_GetLastError(connection_.get(), &text);
    const std::string reason = text == nullptr || *text == '\0' ? natsStatus_GetText(error) : text;
    if (socket_ < 0) {
        const bool is_end = error == NATS_CONNECTION_CLOSED || error == NATS_IO_ERROR || error == NATS_OK;
        fail(is_end ? "the server closed the connection" : reason);
        return false;
    }
    if (error != NATS_NOT_PERMITTED || reason == refused_check_) {
        return true;
    }
    if (state_ != State::checking || reason.find("$JS.API.") == std::string::npos) {
        fail(reason);
        return false;
    }
    refused_check_ = reason;
    warn("cannot check the stream: " + reason);
    set_up(std::nullopt);
    return true;
}

void JetStreamAdapter::warn(const std::string& text) {
    options_.warn(server_ + ": " + text);
}

void JetStreamAdapter::set_up(std::optional<Place> last) {
    state_ = State::up;
    events_.up(server_, last);
}

void JetStreamAdapter::receive() {
    while (state_ != State::closed) {
        natsMsg* received = nullptr;
        const natsStatus status = natsSubscription_NextMsg(&received, replies_.get(), 0);
        if (status == NATS_NO_RESPONDERS) {
            handle_no_responders();
        } else if (status == NATS_OK) {
            const NatsMessage message(received);
            handle(received);
        } else {
            return;
        }
    }
}

/// Nobody has received a message. libnats does not tell which one.
void JetStreamAdapter::handle_no_responders() {
    if (state_ == State::up) {
        return fail(unavailable);
    }
    // The stream may be behind a server that does not forward requests about streams.
    warn("cannot check the stream: JetStream does not respond to requests about streams");
    set_up(std::nullopt);
}

void JetStreamAdapter::handle(natsMsg* message) {
    std::string_view reply = natsMsg_GetSubject(message);
    reply.remove_prefix(std::min(inbox_.size(), reply.size()));
    const std::string_view json(natsMsg_GetData(message), static_cast<std::size_t>(natsMsg_GetDataLength(message)));
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(reply.data(), reply.data() + reply.size(), number);
    if (error == std::errc() && end == reply.data() + reply.size()) {
        const PublishReply stored = read_publish_reply(json);
        if (stored.is_stored) {
            next_server_ = server_index_;  // to return to it; others may respond and not reach the stream
            // Places in another stream would not be comparable; subjects may belong to several.
            return events_.acknowledged(number, stored.is_duplicate, stored.stream == stream_ ? stored.place : 0);
        }
        return events_.refused(number, stored.refusal, stored.reason);
    }
    handle_check(reply, json);
}

void JetStreamAdapter::handle_check(std::string_view reply, std::string_view json) {
    if (reply == name_reply && state_ == State::checking) {
        const StreamName found = read_stream_name(json, options_.subjects);
        if (!found.problem.empty()) {
            return fail(found.problem);
        }
        stream_ = found.name;
        if (!request_stream()) {
            fail("cannot request the properties of stream " + stream_);
        }
        return;
    }
    if (reply == stream_reply) {
        const StreamCheck check = check_stream(json, options_);
        if (state_ == State::up && check.is_found) {  // its properties matter at the next connection
            return events_.checked(check.last);
        }
        if (!check.problem.empty()) {
            return fail(check.problem);
        }
        if (!check.warning.empty()) {
            warn(check.warning);
        }
        set_up(check.last);
    }
}

bool JetStreamAdapter::request_stream() {
    const std::string subject = "$JS.API.STREAM.INFO." + stream_;
    return natsConnection_PublishRequest(connection_.get(), subject.c_str(), (inbox_ + stream_reply).c_str(), "", 0) ==
           NATS_OK;
}

void JetStreamAdapter::check() {
    if (!stream_.empty() && !request_stream()) {
        fail_later("cannot request the properties of stream " + stream_);
    }
}

void JetStreamAdapter::send(const OutgoingMessage& message, std::uint64_t number) {
    natsMsg* made = nullptr;
    check_memory(natsMsg_Create(&made, message.subject.c_str(), (inbox_ + std::to_string(number)).c_str(),
                                message.payload.data(), static_cast<int>(message.payload.size())));
    const NatsMessage owner(made);
    const auto add = [&](const char* name, const std::string& value) {
        check_memory(natsMsgHeader_Set(made, name, value.c_str()));
    };
    add("Nats-Msg-Id", message.id);
    add("Telegate-Epoch", std::to_string(message.epoch_ms));
    add("Telegate-Position", std::to_string(message.position));
    add("Telegate-End", std::to_string(message.end_position));
    add("Telegate-Part", std::to_string(message.part));
    add("Telegate-Last-Part", message.is_last_part ? "yes" : "no");
    if (message.is_historical) {
        add("Telegate-Historical", "yes");
    }
    add("Telegate-Format", message.format);
    for (const auto& [name, value] : options_.headers) {
        add(name.c_str(), value);
    }
    const natsStatus status = natsConnection_PublishMsg(connection_.get(), made);
    if (status == NATS_NO_MEMORY) {
        throw std::bad_alloc();
    }
    if (status == NATS_MAX_PAYLOAD) {
        too_large_.push_back(number);
        loop_.call_later([this] { later(); });
    } else if (status != NATS_OK) {
        fail_later(std::string("cannot send: ") + natsStatus_GetText(status));
    }
}

}  // namespace telegate::uplink
