#include "influxdb/influxdb_adapter.hpp"

#include "core/text.hpp"
#include "influxdb/line_encoder.hpp"
#include "influxdb/write_request.hpp"

#include <any>
#include <exception>
#include <memory>
#include <utility>

namespace telegate::uplink {
namespace {

constexpr std::string_view line_format = "influxdb";  // the name of the type, see BlockEncoding

// A static string, because views may not be zero-terminated.
constexpr const char* version = TELEGATE_MODULE_VERSION;

std::unique_ptr<Adapter> make_adapter(AdapterLoop& loop, AdapterOptions options, Adapter::Events events) {
    return std::make_unique<InfluxdbAdapter>(loop, std::move(options), std::move(events));
}

std::unique_ptr<EntryEncoder> make_encoder(const EncoderOptions& options) {
    return std::make_unique<LineEncoder>(std::any_cast<InfluxdbOptions>(options.type_options), options.gateway);
}

}  // namespace

InfluxdbAdapter::InfluxdbAdapter(AdapterLoop& loop, AdapterOptions options, Events events)
    : loop_(loop),
      options_(std::move(options)),
      influxdb_(std::any_cast<InfluxdbOptions>(options_.type_options)),
      events_(std::move(events)),
      link_(loop, {.opened = [this] { connected(); },
                   .secured = [this] { established(); },
                   .received = [this](std::string_view bytes) { receive(bytes); },
                   .ended =
                       [this](const std::string& reason, Link::End end) {
                           ended(reason, end);
                       }}) {}

InfluxdbAdapter::~InfluxdbAdapter() {
    close();
}

void InfluxdbAdapter::connect() {
    state_ = State::connecting;
    is_new_ = true;
    loop_.call_later([this] { later(); });
}

void InfluxdbAdapter::send(const OutgoingMessage& message, std::uint64_t number) {
    queue_.push_back({number, message.samples, message.payload, message.format == line_format ? "" : message.format});
    if (state_ != State::waiting) {  // with those that follow at once
        loop_.call_later([this] { later(); });
    }
}

void InfluxdbAdapter::later() {
    if (std::exchange(is_new_, false)) {
        server_index_ = next_server_;
        next_server_ = (server_index_ + 1) % options_.urls.size();
        return open();
    }
    send_next();
}

void InfluxdbAdapter::open() {
    state_ = State::connecting;
    server_ = options_.urls[server_index_];
    try {
        secrets_ = options_.secrets();
        url_ = parse_http_url(server_).value_or(ServerUrl{});
        head_ = write_request_head(url_, influxdb_, secrets_.credentials);
        const ServerUrl to = influxdb_.proxy.empty() ? url_ : parse_http_url(influxdb_.proxy).value_or(ServerUrl{});
        link_.open(to.host, to.port);
    } catch (const std::exception& error) {
        fail(error.what());
    }
}

void InfluxdbAdapter::connected() {
    if (!url_.has_tls) {
        if (!secrets_.credentials.path.empty() && !is_up_) {
            options_.warn(server_ + ": the credentials are sent without encryption; use https://");
        }
        return established();
    }
    if (influxdb_.proxy.empty()) {
        return secure();
    }
    state_ = State::tunneling;
    reader_.reset(false);
    link_.write(tunnel_request(url_));
}

void InfluxdbAdapter::secure() {
    state_ = State::securing;
    try {
        link_.secure(secrets_, options_.tls_server_name.empty() ? url_.host : options_.tls_server_name);
    } catch (const std::exception& error) {
        fail(std::string("cannot connect: ") + error.what());
    }
}

void InfluxdbAdapter::established() {
    secrets_ = {};
    state_ = State::idle;
    has_response_ = false;
    opened_at_ = std::chrono::steady_clock::now();
    if (!std::exchange(is_up_, true)) {
        return events_.up({.server = server_, .stream = store_identity(url_, influxdb_), .has_places = false});
    }
    send_next();
}

void InfluxdbAdapter::close() {
    state_ = State::closed;
    is_up_ = false;
    is_new_ = false;
    loop_.cancel_later();
    link_.close();
    secrets_ = {};
    head_.clear();
    queue_.clear();
    sent_ = 0;
    singles_ = 0;
}

void InfluxdbAdapter::fail(const std::string& reason, bool is_refused) {
    close();
    events_.down(server_ + ": " + reason, is_refused);
}

void InfluxdbAdapter::ended(const std::string& reason, Link::End end) {
    if (state_ == State::waiting) {
        if (auto response = reader_.end()) {
            response->keeps_open = false;
            return handle(*response);
        }
    }
    const auto now = std::chrono::steady_clock::now();
    const bool is_idle = state_ == State::idle && queue_.empty();
    if (is_idle && now - stored_at_ >= idle_min) {
        state_ = State::parked;
        return;
    }
    const bool was_useful = has_response_ || (is_idle && now - opened_at_ >= open_min);
    if ((state_ == State::idle || state_ == State::waiting) && end == Link::End::closed && was_useful) {
        sent_ = 0;
        return open();
    }
    fail(reason, end == Link::End::refused);
}

std::string_view InfluxdbAdapter::waits_for() const noexcept {
    switch (state_) {
        case State::connecting: return "a connection";
        case State::tunneling: return "a response of the proxy";
        case State::securing: return "the TLS handshake of the server";
        case State::closed:
        case State::idle:
        case State::waiting:
        case State::parked: break;
    }
    return "";
}

/// Sends the next request if there is none without a response.
void InfluxdbAdapter::send_next() {
    while (!queue_.empty() && sent_ == 0 && (queue_.front().payload.empty() || !queue_.front().other_format.empty())) {
        const Message message = std::move(queue_.front());
        queue_.pop_front();
        singles_ -= singles_ > 0 ? 1 : 0;
        if (message.other_format.empty()) {
            events_.acknowledged(message.number, false, 0);  // nothing of it is to be stored
        } else {
            events_.refused(message.number, Refusal::permanent, "the message has the format " + message.other_format,
                            {});
        }
    }
    if (queue_.empty()) {
        return;
    }
    if (state_ == State::parked) {
        return open();
    }
    if (state_ == State::idle) {
        send_request();
    }
}

void InfluxdbAdapter::send_request() {
    std::string body = take_body();
    if (influxdb_.compression == InfluxdbOptions::Compression::gzip) {
        body = gzip(body);
    }
    state_ = State::waiting;
    reader_.reset();
    link_.write(head_ + std::to_string(body.size()) + "\r\n\r\n");
    link_.write(body);
}

/// Returns the messages of the next request.
std::string InfluxdbAdapter::take_body() {
    std::string body;
    std::uint64_t lines = 0;
    while (sent_ < queue_.size()) {
        const Message& next = queue_[sent_];
        const bool is_full = lines + next.lines > lines_max || body.size() + next.payload.size() > bytes_max_;
        if (sent_ > 0 && (is_full || singles_ > 0 || !next.other_format.empty())) {
            break;
        }
        body += next.payload;
        lines += next.lines;
        ++sent_;
    }
    return body;
}

void InfluxdbAdapter::receive(std::string_view bytes) {
    if (state_ != State::waiting && state_ != State::tunneling) {
        return fail("the server has sent a response without a request");
    }
    try {
        if (const auto response = reader_.read(bytes)) {
            if (state_ == State::tunneling) {
                const WriteResult result = result_of(*response);
                return result.refusal ? fail("the proxy refuses the connection: " + result.reason) : secure();
            }
            if (!response->keeps_open) {
                link_.close();
            }
            handle(*response);
        }
    } catch (const std::exception& error) {
        fail(error.what());
    }
}

void InfluxdbAdapter::handle(const HttpResponse& response) {
    has_response_ = true;
    state_ = response.keeps_open ? State::idle : State::parked;
    const WriteResult result = result_of(response);
    if (result.refusal) {
        refuse(*result.refusal, response, result.reason);
    } else {
        next_server_ = server_index_;  // to return to it
        stored_at_ = std::chrono::steady_clock::now();
        if (!result.reason.empty() && std::exchange(warning_, result.reason) != result.reason) {
            options_.warn(server_ + ": " + result.reason);
        }
        singles_ -= singles_ > 0 ? 1 : 0;
        for (std::size_t count = std::exchange(sent_, 0); count > 0; --count) {
            const std::uint64_t number = queue_.front().number;
            queue_.pop_front();
            events_.acknowledged(number, false, 0);
        }
    }
    send_next();
}

void InfluxdbAdapter::refuse(Refusal refusal, const HttpResponse& response, const std::string& reason) {
    const std::size_t count = std::exchange(sent_, 0);
    if (refusal != Refusal::transient && count > 1) {
        if (refusal == Refusal::too_large) {
            bytes_max_ /= 2;
        }
        singles_ = count;
        return;
    }
    // If a message may be stored later, those behind it have to wait, too.
    const std::size_t refused = refusal == Refusal::transient ? queue_.size() : 1;
    const bool has_others = options_.urls.size() > 1;  // servers, which are not busy because this one is
    singles_ = refusal == Refusal::transient ? 0 : singles_ - (singles_ > 0 ? 1 : 0);
    for (std::size_t i = 0; i < refused; ++i) {
        const std::uint64_t number = queue_.front().number;
        queue_.pop_front();
        events_.refused(number, refusal, server_ + ": " + reason,
                        has_others ? std::chrono::seconds(0) : response.retry_after);
    }
    if (refusal == Refusal::transient && has_others) {
        return fail(reason);
    }
    if (response.status == 401 || response.status == 403) {  // the next connection has the credentials of then
        link_.close();
        state_ = State::parked;
    }
}

}  // namespace telegate::uplink

extern "C" {
/// See load_adapter_module().
[[gnu::visibility("default")]] extern const telegate::uplink::AdapterModule telegate_uplink_influxdb;
constinit const telegate::uplink::AdapterModule telegate_uplink_influxdb{
    telegate::uplink::version, telegate::uplink::make_adapter, telegate::uplink::make_encoder};
}
