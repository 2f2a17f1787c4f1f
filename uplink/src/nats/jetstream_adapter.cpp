#include "nats/jetstream_adapter.hpp"

#include "core/text.hpp"
#include "nats/jetstream_replies.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <random>
#include <utility>

namespace telegate::uplink {
namespace {

constexpr const char* name_reply = "name";    // of the stream
constexpr const char* stream_reply = "info";  // about the stream
constexpr std::chrono::milliseconds no_delay{0};
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

/// Appends a header; a line break in a value would begin another one.
void add_header(std::string& to, std::string_view name, std::string value) {
    std::replace_if(
        value.begin(), value.end(), [](char each) { return each == '\r' || each == '\n'; }, ' ');
    to.append(name).append(": ").append(value).append("\r\n");
}

// A static string, because views may not be zero-terminated.
constexpr const char* version = TELEGATE_MODULE_VERSION;

std::unique_ptr<Adapter> make_adapter(AdapterLoop& loop, AdapterOptions options, Adapter::Events events) {
    return std::make_unique<JetStreamAdapter>(loop, std::move(options), std::move(events));
}

}  // namespace

JetStreamAdapter::JetStreamAdapter(AdapterLoop& loop, AdapterOptions options, Events events)
    : loop_(loop),
      options_(std::move(options)),
      events_(std::move(events)),
      link_(loop, {.opened = [this] { state_ = State::greeting; },
                   .secured = [this] { authenticate(); },
                   .received = [this](std::string_view bytes) { receive(bytes); },
                   .ended =
                       [this](const std::string& reason, Link::End end) {
                           fail(reason, end == Link::End::refused);
                       }}) {}

JetStreamAdapter::~JetStreamAdapter() {
    close();
}

void JetStreamAdapter::connect() {
    state_ = State::connecting;
    is_waiting_ = true;
    loop_.call_later([this] { later(); });
}

void JetStreamAdapter::later() {
    if (std::exchange(is_waiting_, false)) {
        return open();
    }
    for (const std::uint64_t number : std::exchange(too_large_, {})) {
        events_.refused(number, Refusal::too_large,
                        "message is larger than the server's max_payload of " + std::to_string(info_.payload_max) +
                            " bytes; lower batch_bytes",
                        no_delay);
    }
}

void JetStreamAdapter::open() {
    server_index_ = next_server_;
    next_server_ = (server_index_ + 1) % options_.urls.size();
    server_ = options_.urls[server_index_];
    try {
        secrets_ = options_.secrets();
        address_ = parse_nats_url(server_).value_or(ServerUrl{});
        link_.open(address_.host, address_.port);
    } catch (const std::exception& error) {
        fail(error.what());
    }
}

void JetStreamAdapter::close() {
    state_ = State::closed;
    is_waiting_ = false;
    loop_.cancel_later();
    link_.close();
    parser_.reset();
    secrets_ = {};
    info_ = {};
    errors_ = 0;
    refused_check_.clear();
    too_large_.clear();
    stream_.clear();
    streams_.clear();
    identity_ = 0;
    warning_.clear();
}

void JetStreamAdapter::fail(const std::string& reason, bool is_refused) {
    close();
    events_.down(server_ + ": " + reason, is_refused);
}

std::string_view JetStreamAdapter::waits_for() const noexcept {
    switch (state_) {
        case State::connecting: return "a connection";
        case State::greeting: return "the greeting of the server";
        case State::securing: return "the TLS handshake of the server";
        case State::authenticating: return "a response to the credentials";
        case State::checking: return "the properties of the stream";
        case State::closed:
        case State::up: break;
    }
    return "";
}

void JetStreamAdapter::receive(std::string_view bytes) {
    parser_.add(bytes);
    while (state_ != State::closed) {
        if (const auto operation = parser_.next()) {
            handle(*operation);
        } else if (!parser_.fault().empty()) {
            return fail((state_ < State::checking ? "cannot connect: " : "") + parser_.fault());
        } else {
            return;
        }
    }
}

void JetStreamAdapter::handle(const NatsOperation& operation) {
    using Kind = NatsOperation::Kind;
    if (state_ == State::greeting && operation.kind != Kind::info) {
        return fail("cannot connect: Unexpected protocol");
    }
    switch (operation.kind) {
        case Kind::info: return handle_info(operation.body);
        case Kind::message: return handle_message(operation);
        case Kind::error: return handle_error(operation.body);
        case Kind::ping:
            if (!link_.respond("PONG\r\n")) {
                fail("the server does not read the responses to its pings");
            }
            return;
        case Kind::pong:
            if (state_ == State::authenticating) {
                authenticated();
            }
            return;
        case Kind::ok: return;
    }
}

void JetStreamAdapter::handle_info(std::string_view json) {
    info_ = read_server_info(json);
    if (state_ != State::greeting) {
        return;  // a change, such as another max_payload
    }
    const bool has_tls = wants_tls(secrets_, address_);
    if (!has_tls && !info_.needs_tls) {
        return authenticate();
    }
    if (!info_.has_tls) {
        return fail("cannot connect: the server does not offer TLS");
    }
    if (!parser_.is_empty()) {  // it would be read as if it had been encrypted
        return fail("cannot connect: Unexpected protocol");
    }
    state_ = State::securing;
    try {
        link_.secure(secrets_, options_.tls_server_name.empty() ? address_.host : options_.tls_server_name);
    } catch (const std::exception& error) {
        fail(std::string("cannot connect: ") + error.what());
    }
}

/// Sends the credentials.
void JetStreamAdapter::authenticate() {
    if (!info_.has_headers) {
        return fail("the server does not support headers: NATS 2.2 or later is required");
    }
    state_ = State::authenticating;
    try {
        link_.write(connect_text(secrets_, info_, options_.client_name, link_.is_secure()));
        secrets_ = {};
    } catch (const std::exception& error) {
        fail(error.what());
    }
}

/// Begins to check the stream.
void JetStreamAdapter::authenticated() {
    state_ = State::checking;
    inbox_ = random_inbox();
    link_.write("SUB " + inbox_ + "* 1\r\n");
    request("$JS.API.STREAM.NAMES", name_reply, stream_name_request(options_.subjects));
}

void JetStreamAdapter::request(const std::string& subject, const char* reply, const std::string& body) {
    link_.write("PUB " + subject + ' ' + inbox_ + reply + ' ' + std::to_string(body.size()) + "\r\n" + body + "\r\n");
}

void JetStreamAdapter::handle_error(std::string_view text) {
    const std::string reason(text.substr(0, 256));
    if (state_ < State::checking) {
        return fail("cannot connect: " + reason);
    }
    if (++errors_ > errors_max) {
        return fail("the server repeats errors: " + reason);
    }
    const bool is_of_request = reason.starts_with("Permissions Violation") && reason.find("$JS.API.") != reason.npos;
    if (is_of_request && reason == refused_check_) {
        return;
    }
    if (!is_of_request || state_ != State::checking) {
        return fail(reason);
    }
    refused_check_ = reason;
    warn("cannot check the stream: " + reason);
    set_up();
}

void JetStreamAdapter::warn(const std::string& text) {
    options_.warn(server_ + ": " + text);
}

void JetStreamAdapter::set_up(std::optional<Place> last) {
    state_ = State::up;
    events_.up({server_, last, identity_});
}

/// Nobody has received a message. Its reply subject is not considered, because all messages have the same stream.
void JetStreamAdapter::handle_no_responders() {
    if (state_ == State::up) {
        return fail(unavailable);
    }
    // The stream may be behind a server that does not forward requests about streams.
    warn("cannot check the stream: JetStream does not respond to requests about streams");
    set_up();
}

void JetStreamAdapter::handle_message(const NatsOperation& message) {
    if (state_ != State::checking && state_ != State::up) {
        return fail("cannot connect: Unexpected protocol");
    }
    if (message.head.starts_with("NATS/1.0 503") && message.body.empty()) {
        return handle_no_responders();
    }
    std::string_view reply = message.subject;
    reply.remove_prefix(std::min(inbox_.size(), reply.size()));
    const auto number = parse_number<std::uint64_t>(reply);
    if (!number) {
        return handle_check(reply, message.body);
    }
    const PublishReply stored = read_publish_reply(message.body);
    if (stored.is_stored) {
        if (!streams_.empty() && std::find(streams_.begin(), streams_.end(), stored.stream) == streams_.end()) {
            return fail("stream " + stored.stream + " has stored a message for stream " + stream_);
        }
        next_server_ = server_index_;  // to return to it; others may respond and not reach the stream
        // Places in several streams are not comparable.
        return events_.acknowledged(*number, stored.is_duplicate, stored.stream == stream_ ? stored.place : 0);
    }
    events_.refused(*number, stored.refusal, stored.reason, no_delay);
}

void JetStreamAdapter::handle_check(std::string_view reply, std::string_view json) {
    if (reply == name_reply && state_ == State::checking) {
        const StreamName found = read_stream_name(json, options_.subjects);
        if (!found.problem.empty()) {
            return fail(found.problem);
        }
        stream_ = found.name;
        streams_ = found.all;
        return request_stream();
    }
    if (reply == stream_reply) {
        StreamCheck check = check_stream(json, options_);
        if (state_ == State::up && check.may_divide) {
            check.warning = std::exchange(check.problem, {});
        }
        if (!check.problem.empty()) {
            return fail(check.problem);
        }
        if (identity_ != 0 && check.identity != identity_) {
            return fail("stream " + stream_ + " was replaced by another one");
        }
        if (check.warning != warning_ && !check.warning.empty()) {
            warn(check.warning);
        }
        warning_ = check.warning;
        identity_ = check.identity;
        state_ == State::up ? events_.checked(check.last) : set_up(check.last);
    }
}

void JetStreamAdapter::request_stream() {
    request("$JS.API.STREAM.INFO." + stream_, stream_reply, "");
}

void JetStreamAdapter::check() {
    if (!stream_.empty() && refused_check_.empty()) {
        request_stream();
    }
}

void JetStreamAdapter::send(const OutgoingMessage& message, std::uint64_t number) {
    std::string head = "NATS/1.0\r\n";
    add_header(head, "Nats-Msg-Id", message.id);
    add_header(head, "Telegate-Epoch", std::to_string(message.epoch_ms));
    add_header(head, "Telegate-Position", std::to_string(message.position));
    add_header(head, "Telegate-End", std::to_string(message.end_position));
    add_header(head, "Telegate-Part", std::to_string(message.part));
    add_header(head, "Telegate-Last-Part", message.is_last_part ? "yes" : "no");
    if (message.is_historical) {
        add_header(head, "Telegate-Historical", "yes");
    }
    add_header(head, "Telegate-Format", message.format);
    for (const auto& [name, value] : options_.headers) {
        add_header(head, name, value);
    }
    head += "\r\n";
    const std::size_t bytes = head.size() + message.payload.size();
    if (bytes > info_.payload_max) {
        too_large_.push_back(number);
        return loop_.call_later([this] { later(); });
    }
    link_.write("HPUB " + message.subject + ' ' + inbox_ + std::to_string(number) + ' ' + std::to_string(head.size()) +
                ' ' + std::to_string(bytes) + "\r\n" + head);
    link_.write(message.payload);
    link_.write("\r\n");
}

}  // namespace telegate::uplink

extern "C" {
/// See load_adapter_module().
[[gnu::visibility("default")]] extern const telegate::uplink::AdapterModule telegate_uplink_nats;
constinit const telegate::uplink::AdapterModule telegate_uplink_nats{.version = telegate::uplink::version,
                                                                     .make = telegate::uplink::make_adapter};
}
