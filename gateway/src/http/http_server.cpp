#include "http/http_server.hpp"

#include "base/setting_failure.hpp"
#include "http/http_connection.hpp"
#include "http/http_listener.hpp"
#include "http/tls_handshakes.hpp"

#include "core/client_shares.hpp"
#include "core/start_thread.hpp"
#include "core/waker.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <chrono>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

namespace telegate {
namespace {

namespace asio = boost::asio;
using Executor = asio::io_context::executor_type;
using SteadyClock = std::chrono::steady_clock;

constexpr std::size_t accepts_per_turn = 16;

std::vector<HttpListener> listeners_of(const HttpServerOptions& options) {
    std::vector<HttpListener> listeners;
    if (options.adopted_socket >= 0) {
        listeners.push_back(HttpListener::adopt(options.adopted_socket));
    } else if (!options.host.empty()) {
        listeners.push_back(
            get_for("[rest] listen", "", [&] { return HttpListener::on_tcp(options.host, options.port); }));
    }
    if (!options.unix_socket.empty()) {
        listeners.push_back(get_for("[rest] unix_socket", options.unix_socket,
                                    [&] { return HttpListener::on_unix(options.unix_socket); }));
    }
    return listeners;
}

/// How long to wait until descriptors may be available again.
constexpr std::chrono::milliseconds shortage_pause{100};

/// Calls `action` at `time` instead of an action that still waits for the timer.
template <typename Action>
void call_at(HttpTimer& timer, MonoTime time, const Action& action) noexcept {
    timer.expires_at(time);
    timer.async_wait([action](const boost::system::error_code& error) {
        if (!error) {
            action();
        }
    });
}

/// Runs the handlers of `io` until it is stopped or out of work.
template <typename AfterEach>
void run(asio::io_context& io, const AfterEach& after_each) noexcept {
    while (io.run_one() > 0) {
        after_each();
    }
}

}  // namespace

/// The implementation. Everything except the constructor, start(), stop() and the functions documented for any thread
/// runs on the I/O thread.
class HttpServer::State final : public HttpHost {
  public:
    State(HttpServerOptions&& options, HttpCalls&& calls_given)
        : HttpHost(options.limits, std::move(calls_given)), options_(std::move(options)) {
        for (HttpListener& listener : listeners_of(options_)) {
            listeners_.push_back(std::make_unique<AsyncListener>(std::move(listener), io_));
        }
        connections_.reserve(budget.limits.connections_max + budget.limits.streams_max);
    }

    void start() {
        if (listeners_.empty()) {
            return;
        }
        for (const auto& listener : listeners_) {
            await_clients(*listener);
        }
        for (std::size_t index = 0; index < std::max<std::size_t>(options_.workers, 1); ++index) {
            workers_.push_back(start_thread("tg-http-" + std::to_string(index), [this] { run(answers_, [] {}); }));
        }
        is_running_ = true;
        io_thread_ = start_thread("tg-http", [this] { run_io(); });
    }

    void stop() {
        if (io_thread_.joinable()) {
            asio::post(io_, [this] { begin_stop(); });
            io_thread_.join();
        }
        end_workers();
        handshakes_.stop();
        close_listeners();
    }

    void stop_after_streams(MonoTime until, std::function<void()> done) {
        {
            const std::lock_guard lock(end_mutex_);
            if (is_running_) {
                on_stopped_ = std::exchange(done, nullptr);
            }
        }
        if (done) {
            return done();
        }
        asio::post(io_, [this, until] {
            stops_after_streams_ = true;
            call_at(end_timer_, until, [this] { begin_stop(); });
        });
    }

    void wake_streams() noexcept override {
        if (budget.streams() == 0 || !posted_wake_.set()) {
            return;
        }
        asio::post(io_, [this] {
            call_at(streams_timer_, streams_served_ + budget.limits.stream_interval, [this] { serve_streams(); });
        });
    }

    std::vector<std::string> urls() const {
        const bool secure = options_.tls && options_.tls() != nullptr;
        std::vector<std::string> texts;
        for (const auto& listener : listeners_) {
            const char* const scheme = !listener->acceptor.over_tcp() ? "" : secure ? "https://" : "http://";
            texts.push_back(scheme + listener->acceptor.address());
        }
        return texts;
    }
    std::string address() const { return listeners_.empty() ? std::string() : listeners_.front()->acceptor.address(); }

  private:
    /// A listener and the event loop's handle of it.
    struct AsyncListener {
        AsyncListener(HttpListener&& given, asio::io_context& io)
            : acceptor(std::move(given)), readable(io, acceptor.socket()), timer(io) {}
        ~AsyncListener() { (void)readable.release(); }  // the listener closes the descriptor
        AsyncListener(const AsyncListener&) = delete;
        AsyncListener& operator=(const AsyncListener&) = delete;

        HttpListener acceptor;
        asio::posix::basic_stream_descriptor<Executor> readable;
        HttpTimer timer;  // accepts clients again after all descriptors were in use
    };

    void queue(std::shared_ptr<HttpConnection> connection) override {
        queue_.add(connection->client(), connection);
        feed_workers();
    }

    /// Closes the newest stream of the client with the most streams, if it has to yield; otherwise one of its own that
    /// it does not read.
    bool end_a_stream(std::string_view client) override {
        const ClientShares shares = shares_of(&HttpConnection::is_streaming);
        const MonoTime now = SteadyClock::now();
        const bool others_yield = shares.yields_to(client);
        const std::string_view hog = others_yield ? shares.most().client : client;
        const auto found = std::find_if(connections_.rbegin(), connections_.rend(), [&](const HttpConnection* each) {
            return each->is_streaming() && each->client() == hog && (others_yield || each->is_stuck(now));
        });
        if (found == connections_.rend()) {
            if (budget.crowd().empty()) {  // nobody has more than a share
                budget.record_crowd("all " + std::to_string(budget.limits.streams_max) + " event streams are in use");
            }
            return false;
        }
        record_crowd(shares, "event streams", budget.limits.streams_max);
        (*found)->displace();
        return true;
    }

    /// Frees capacity of unread responses: closes the first connection with one, of the client with most of them.
    bool end_a_response() override {
        const MonoTime now = SteadyClock::now();
        std::vector<HttpConnection*> stuck;
        ClientShares shares;
        for (HttpConnection* const each : connections_) {
            if (each->has_reserved_response() && each->is_stuck(now)) {
                stuck.push_back(each);
                shares.add(each->client());
            }
        }
        const auto found = std::find_if(stuck.begin(), stuck.end(), [hog = shares.most().client](const auto* each) {
            return each->client() == hog;
        });
        if (found == stuck.end()) {
            return false;
        }
        (*found)->displace();
        return true;
    }

    void forget(const HttpConnection& connection) noexcept override { std::erase(connections_, &connection); }

    bool is_stopping() const noexcept override { return is_stopping_; }

    void run_io() noexcept {
        run(io_, [this] {
            if (stops_after_streams_ && budget.streams() == 0 && !is_stopping_) {
                begin_stop();
            }
        });
        end_workers();
        std::function<void()> done;
        {
            const std::lock_guard lock(end_mutex_);
            is_running_ = false;
            done = std::exchange(on_stopped_, nullptr);
        }
        if (done) {
            done();
        }
    }

    void end_workers() noexcept {
        answers_.stop();
        for (std::thread& worker : workers_) {
            worker.join();
        }
        workers_.clear();
    }

    void await_clients(AsyncListener& listener) noexcept {
        listener.readable.async_wait(listener.readable.wait_read,
                                     [this, &listener](const boost::system::error_code& error) {
                                         if (!error) {
                                             accept_waiting(listener);
                                         }
                                     });
    }

    void accept_waiting(AsyncListener& listener) noexcept {
        for (std::size_t accepts = 0; accepts < accepts_per_turn; ++accepts) {
            HttpListener::Accepted client = listener.acceptor.accept();
            if (client.outcome == HttpListener::Outcome::exhausted) {
                // The listener stays readable.
                return call_at(listener.timer, SteadyClock::now() + shortage_pause,
                               [this, &listener] { await_clients(listener); });
            }
            if (client.outcome == HttpListener::Outcome::none) {
                break;
            }
            try {
                add(listener.acceptor, std::move(client));
            } catch (const std::exception&) {  // the connection closes
            }
        }
        await_clients(listener);
    }

    void add(const HttpListener& listener, HttpListener::Accepted&& client) {
        const std::string name = client_of(client.peer);
        const ClientShares shares = shares_of(&HttpConnection::holds_a_place);
        if (shares.size() >= budget.limits.connections_max && !close_least_claim(shares, name)) {
            return;
        }
        const auto tls = options_.tls && listener.over_tcp() ? options_.tls() : nullptr;
        auto socket = tls ? tls->open(io_, std::move(client.socket), {handshakes_, name})
                          : make_plain_socket(io_, std::move(client.socket));
        const auto connection = std::make_shared<HttpConnection>(std::move(socket), std::move(client.peer), io_, *this);
        connections_.push_back(connection.get());
        connection->open();
    }

    /// Returns the number of connections of each client with this property.
    ClientShares shares_of(bool (HttpConnection::*has_property)() const noexcept) const {
        ClientShares shares;
        for (const HttpConnection* const connection : connections_) {
            if ((connection->*has_property)()) {
                shares.add(connection->client());
            }
        }
        return shares;
    }

    /// Returns null if no connection, of this client unless it is empty, can be closed now.
    HttpConnection* least_claim(MonoTime now, std::string_view client) const {
        HttpConnection* least = nullptr;
        std::optional<HttpClaim> claim_of_least;
        for (HttpConnection* const connection : connections_) {
            const std::optional<HttpClaim> claim = connection->claim(now);
            const bool counts = claim && (client.empty() || connection->client() == client);
            if (counts && (!claim_of_least || *claim < *claim_of_least)) {
                least = connection;
                claim_of_least = claim;
            }
        }
        return least;
    }

    /// Closes a connection in favor of a new one of `client`: of the client with the most connections, if it has to
    /// yield, otherwise of the same client, or of any if that has none. Returns whether there was one to close.
    bool close_least_claim(const ClientShares& shares, std::string_view client) {
        const MonoTime now = SteadyClock::now();
        record_crowd(shares, "connections", budget.limits.connections_max);
        HttpConnection* least = least_claim(now, shares.yields_to(client) ? shares.most().client : client);
        least = least == nullptr ? least_claim(now, {}) : least;
        if (least != nullptr) {
            least->close();
        }
        return least != nullptr;
    }

    /// Remembers the client with the most places if it has half of them, for the readiness.
    void record_crowd(const ClientShares& shares, std::string_view what, std::size_t places) {
        const ClientShares::Holder most = shares.most();
        if (most.places > 1 && most.places * 2 >= places) {
            budget.record_crowd(std::string(most.client) + " has " + std::to_string(most.places) + " of " +
                                std::to_string(places) + ' ' + std::string(what));
        }
    }

    void feed_workers() noexcept {
        while (busy_workers_ < workers_.size() && !queue_.empty()) {
            const auto connection = queue_.pop();
            if (connection->begin_answer()) {
                ++busy_workers_;
                ++answering_;
                asio::post(answers_, [this, answering = connection.get()] { answer(*answering); });
            }
        }
    }

    /// Runs on a worker.
    void answer(HttpConnection& connection) noexcept {
        const auto later = connection.answer();
        asio::post(io_, [this, &connection, has_response = !later] {
            --busy_workers_;
            if (has_response) {
                end_answer(connection);
            } else {
                feed_workers();
            }
        });
        if (!later) {
            return;
        }
        const auto end = [this, &connection] {
            asio::post(io_, [this, &connection] { end_answer(connection); });
        };
        later([&connection, end](HttpResponse response) {
            connection.answer(std::move(response));
            end();
        });
    }

    void end_answer(HttpConnection& connection) {
        --answering_;
        connection.end_answer();
        if (is_stopping_) {
            finish();
        } else {
            feed_workers();
        }
    }

    void serve_streams() {
        streams_served_ = SteadyClock::now();
        posted_wake_.clear();
        for (HttpConnection* const connection : connections_) {
            connection->wake_stream();
        }
    }

    void begin_stop() {
        is_stopping_ = true;
        queue_.clear();
        asio::post(io_, [this] { finish(); });  // after the handlers that are already queued
    }

    /// Closes everything once no response is outstanding; then the event loop is out of work.
    void finish() {
        if (answering_ > 0) {
            return;
        }
        for (HttpConnection* const connection : connections_) {
            connection->finish();
        }
        close_listeners();
        streams_timer_.cancel();
        end_timer_.cancel();
        work_.reset();
    }

    void close_listeners() noexcept {
        for (const auto& listener : listeners_) {
            if (listener->readable.is_open()) {
                (void)listener->readable.release();
                listener->timer.cancel();
                listener->acceptor.close();
            }
        }
    }

    const HttpServerOptions options_;
    std::vector<HttpConnection*> connections_;  // the newest last; each removes itself
    asio::io_context io_{1};
    asio::executor_work_guard<Executor> work_{io_.get_executor()};
    std::vector<std::unique_ptr<AsyncListener>> listeners_;
    std::thread io_thread_;
    bool is_stopping_ = false;

    TlsHandshakes handshakes_;

    asio::io_context answers_;
    asio::executor_work_guard<Executor> answers_work_{answers_.get_executor()};
    std::vector<std::thread> workers_;
    ClientTurns<std::shared_ptr<HttpConnection>> queue_;  // complete requests, at most one per connection
    std::size_t busy_workers_ = 0;
    std::size_t answering_ = 0;  // requests that wait for a response, from a worker or later

    HttpTimer streams_timer_{io_};
    MonoTime streams_served_{};
    PendingWake posted_wake_;

    HttpTimer end_timer_{io_};
    bool stops_after_streams_ = false;
    std::mutex end_mutex_;  // guards the next two
    bool is_running_ = false;
    std::function<void()> on_stopped_;
};

HttpServer::HttpServer(HttpServerOptions options, HttpCalls calls)
    : state_(std::make_unique<State>(std::move(options), std::move(calls))) {}

HttpServer::~HttpServer() {
    stop();
}

void HttpServer::start() {
    state_->start();
}

void HttpServer::stop() {
    state_->stop();
}

void HttpServer::stop_after_streams(MonoTime until, std::function<void()> done) {
    state_->stop_after_streams(until, std::move(done));
}

void HttpServer::wake_streams() noexcept {
    state_->wake_streams();
}

std::size_t HttpServer::streams() const noexcept {
    return state_->budget.streams();
}

HttpFigures HttpServer::figures() const {
    return state_->budget.figures();
}

std::string HttpServer::crowd() const {
    return state_->budget.crowd();
}

std::string HttpServer::address() const {
    return state_->address();
}

std::vector<std::string> HttpServer::urls() const {
    return state_->urls();
}

}  // namespace telegate
