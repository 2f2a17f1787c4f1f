#include "http/http_server.hpp"

#include "base/memory_reserve.hpp"
#include "base/setting_failure.hpp"
#include "http/http_connection.hpp"
#include "http/http_listener.hpp"

#include "core/start_thread.hpp"

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <atomic>
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
constexpr std::chrono::milliseconds pause{100};  // until descriptors or memory may be available again

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

/// Posts `action` to `io`, waiting for memory if necessary.
template <typename Action>
void post_surely(asio::io_context& io, const Action& action) noexcept {
    for (bool is_posted = false; !is_posted;) {
        try {
            asio::post(io, action);
            is_posted = true;
        } catch (const std::exception&) {
            std::this_thread::sleep_for(pause);
        }
    }
}

/// Runs the handlers of `io` until it is stopped or out of work.
template <typename AfterEach>
void run(asio::io_context& io, const AfterEach& after_each) noexcept {
    MemoryReserve reserve;
    const MemoryReserve::Use use(reserve);
    for (bool goes_on = true; goes_on;) {
        if (!reserve.restore()) {
            std::this_thread::sleep_for(pause);
            continue;
        }
        try {
            goes_on = io.run_one() > 0;
        } catch (const std::exception&) {  // out of memory; the affected connection has closed
        }
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
            doors_.push_back(std::make_unique<Door>(std::move(listener), io_));
        }
        connections_.reserve(budget.limits.connections_max + budget.limits.streams_max);
    }

    void start() {
        if (doors_.empty()) {
            return;
        }
        for (const auto& door : doors_) {
            await_clients(*door);
        }
        for (std::size_t index = 0; index < std::max<std::size_t>(options_.workers, 1); ++index) {
            workers_.push_back(start_thread("tg-http-" + std::to_string(index), [this] { run(answers_, [] {}); }));
        }
        answering_.reserve(workers_.size());
        late_.reserve(budget.limits.connections_max);
        is_running_ = true;
        io_thread_ = start_thread("tg-http", [this] { run_io(); });
    }

    void stop() {
        if (io_thread_.joinable()) {
            post_surely(io_, [this] { begin_stop(); });
            io_thread_.join();
        }
        end_workers();
        close_doors();
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
            streams_until_ = until;
            note_due(until);
        });
    }

    void wake_streams() noexcept {
        // A plain load could be reordered before the write of the samples that this wake-up announces.
        if (budget.streams() == 0 || wake_pending_.exchange(true)) {
            return;
        }
        try {
            asio::post(io_, [this] { put_off_streams(streams_served_ + budget.limits.stream_interval); });
        } catch (const std::exception&) {  // the next wake-up tries again
            wake_pending_ = false;
        }
    }

    std::vector<std::string> urls() const {
        const bool secure = options_.tls && options_.tls() != nullptr;
        std::vector<std::string> texts;
        for (const auto& door : doors_) {
            const char* const scheme = !door->listener.over_tcp() ? "" : secure ? "https://" : "http://";
            texts.push_back(scheme + door->listener.address());
        }
        return texts;
    }
    std::string address() const { return doors_.empty() ? std::string() : doors_.front()->listener.address(); }

  private:
    /// A listener and the event loop's handle of it.
    struct Door {
        Door(HttpListener&& given, asio::io_context& io)
            : listener(std::move(given)), readable(io, listener.socket()) {}
        ~Door() { (void)readable.release(); }  // the listener closes the descriptor
        Door(const Door&) = delete;
        Door& operator=(const Door&) = delete;

        HttpListener listener;
        asio::posix::basic_stream_descriptor<Executor> readable;
        MonoTime opens_again = MonoTime::max();  // after all descriptors were in use
    };

    void queue(std::shared_ptr<HttpConnection> connection) override {
        queue_.push_back(std::move(connection));
        feed_workers();
    }

    void note_due(MonoTime due) noexcept override {
        if (due >= timer_due_) {
            return;
        }
        try {
            timer_.expires_at(due);
            timer_.async_wait([this](const boost::system::error_code& error) {
                if (!error) {
                    sweep();
                }
            });
            timer_due_ = due;
        } catch (const std::exception&) {
            is_timer_lost_ = true;
        }
    }

    void note_stream_begun() noexcept override {
        put_off_streams(SteadyClock::now() +
                        budget.limits.stream_interval);  // a wake-up may have come while the stream began
    }

    void forget(const HttpConnection& connection) noexcept override { std::erase(connections_, &connection); }

    bool is_stopping() const noexcept override { return is_stopping_; }

    void run_io() noexcept {
        run(io_, [this] {
            while (std::exchange(is_timer_lost_, false)) {
                std::this_thread::sleep_for(pause);
                timer_due_ = MonoTime::max();
                note_due(SteadyClock::now());
            }
            const bool has_waited =
                streams_until_ != MonoTime::max() && (budget.streams() == 0 || SteadyClock::now() >= streams_until_);
            if (has_waited && !is_stopping_) {
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

    void await_clients(Door& door) noexcept {
        try {
            door.opens_again = MonoTime::max();
            door.readable.async_wait(door.readable.wait_read, [this, &door](const boost::system::error_code& error) {
                if (!error) {
                    accept_waiting(door);
                }
            });
        } catch (const std::exception&) {
            close_for_a_while(door);
        }
    }

    void close_for_a_while(Door& door) noexcept {
        door.opens_again = SteadyClock::now() + pause;
        note_due(door.opens_again);
    }

    void accept_waiting(Door& door) noexcept {
        for (std::size_t accepts = 0; accepts < accepts_per_turn; ++accepts) {
            HttpListener::Accepted client = door.listener.accept();
            if (client.outcome == HttpListener::Outcome::exhausted) {
                return close_for_a_while(door);  // it would stay readable
            }
            if (client.outcome == HttpListener::Outcome::none) {
                break;
            }
            try {
                add(door.listener, std::move(client));
            } catch (const std::exception&) {  // the connection closes
            }
        }
        await_clients(door);
    }

    void add(const HttpListener& listener, HttpListener::Accepted&& client) {
        const auto open = std::count_if(connections_.begin(), connections_.end(), [](const HttpConnection* connection) {
            return connection->is_open() && !connection->is_streaming();
        });
        if (static_cast<std::size_t>(open) >= budget.limits.connections_max && !close_least_claim()) {
            return;
        }
        const auto tls = options_.tls && listener.over_tcp() ? options_.tls() : nullptr;
        auto socket = tls ? tls->open(io_, std::move(client.socket)) : make_plain_socket(io_, std::move(client.socket));
        const auto connection = std::make_shared<HttpConnection>(std::move(socket), std::move(client.peer), *this);
        connections_.push_back(connection.get());
        connection->open();
    }

    /// Returns whether there was a connection to close.
    bool close_least_claim() {
        HttpConnection* least = nullptr;
        std::optional<HttpClaim> least_claim;
        const MonoTime now = SteadyClock::now();
        for (HttpConnection* const connection : connections_) {
            const std::optional<HttpClaim> claim = connection->claim(now);
            if (claim && (!least_claim || *claim < *least_claim)) {
                least = connection;
                least_claim = claim;
            }
        }
        if (least != nullptr) {
            least->close();
        }
        return least != nullptr;
    }

    void feed_workers() {
        while (answering_.size() < workers_.size() && !queue_.empty()) {
            auto connection = std::move(queue_.front());
            queue_.pop_front();
            if (!connection->begin_answer()) {
                continue;
            }
            asio::post(answers_, [this, answering = connection.get()] { answer(*answering); });
            answering_.push_back(std::move(connection));
        }
    }

    /// Runs on a worker.
    void answer(HttpConnection& connection) noexcept {
        const auto later = connection.answer();
        if (!later) {
            return post_surely(io_, [this, &connection] { end_answer(connection, answering_); });
        }
        post_surely(io_, [this, &connection] {
            late_.push_back(take(connection, answering_));
            feed_workers();
        });
        const auto end = [this, &connection] {
            post_surely(io_, [this, &connection] { end_answer(connection, late_); });
        };
        try {
            later([&connection, end](HttpResponse response) {
                connection.answer(std::move(response));
                end();
            });
        } catch (const std::exception&) {  // out of memory; without a response, the connection closes
            end();
        }
    }

    using Connections = std::vector<std::shared_ptr<HttpConnection>>;

    static std::shared_ptr<HttpConnection> take(const HttpConnection& connection, Connections& from) noexcept {
        const auto place =
            std::find_if(from.begin(), from.end(), [&](const auto& each) { return each.get() == &connection; });
        auto taken = std::move(*place);
        from.erase(place);
        return taken;
    }

    void end_answer(HttpConnection& connection, Connections& from) {
        const auto kept = take(connection, from);
        connection.end_answer();
        if (is_stopping_) {
            finish();
        } else {
            feed_workers();
        }
    }

    /// Handles everything that is due.
    void sweep() {
        timer_due_ = MonoTime::max();
        const MonoTime now = SteadyClock::now();
        const bool serves_streams = streams_due_ <= now;
        if (serves_streams) {
            streams_due_ = MonoTime::max();
            streams_served_ = now;
            wake_pending_.exchange(false);
        }
        MonoTime next = streams_until_ > now ? std::min(streams_due_, streams_until_) : streams_due_;
        for (const auto& door : doors_) {
            if (is_stopping_) {
                break;
            }
            if (door->opens_again <= now) {
                await_clients(*door);
            }
            next = std::min(next, door->opens_again);
        }
        for (HttpConnection* const connection : connections_) {
            if (serves_streams) {
                connection->wake_stream();
            }
            if (connection->due() <= now) {
                connection->at_due(now);
            }
            next = std::min(next, connection->due());
        }
        note_due(next);
    }

    /// An earlier time that is already set stays.
    void put_off_streams(MonoTime until) noexcept {
        streams_due_ = std::min(streams_due_, until);
        note_due(streams_due_);
    }

    void begin_stop() {
        is_stopping_ = true;
        queue_.clear();
        post_surely(io_, [this] { finish(); });  // after the handlers that are already queued
    }

    /// Closes everything once no response is outstanding; then the event loop is out of work.
    void finish() {
        if (!answering_.empty() || !late_.empty()) {
            return;
        }
        for (HttpConnection* const connection : connections_) {
            connection->finish();
        }
        close_doors();
        timer_.cancel();
        work_.reset();
    }

    void close_doors() noexcept {
        for (const auto& door : doors_) {
            if (door->readable.is_open()) {
                (void)door->readable.release();
                door->listener.close();
            }
        }
    }

    const HttpServerOptions options_;
    std::vector<HttpConnection*> connections_;  // each removes itself
    asio::io_context io_{1};
    asio::executor_work_guard<Executor> work_{io_.get_executor()};
    asio::basic_waitable_timer<SteadyClock, asio::wait_traits<SteadyClock>, Executor> timer_{io_};
    MonoTime timer_due_ = MonoTime::max();  // not later than anything that is due
    bool is_timer_lost_ = false;
    std::vector<std::unique_ptr<Door>> doors_;
    std::thread io_thread_;
    bool is_stopping_ = false;

    asio::io_context answers_;
    asio::executor_work_guard<Executor> answers_work_{answers_.get_executor()};
    std::vector<std::thread> workers_;
    std::deque<std::shared_ptr<HttpConnection>> queue_;  // complete requests, at most one per connection
    // These are the owning references.
    Connections answering_;  // one per busy worker
    Connections late_;       // the handler has returned, but not responded

    MonoTime streams_due_ = MonoTime::max();
    MonoTime streams_served_{};
    MonoTime streams_until_ = MonoTime::max();  // when to stop even if streams are open
    std::atomic<bool> wake_pending_{false};

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

std::string HttpServer::address() const {
    return state_->address();
}

std::vector<std::string> HttpServer::urls() const {
    return state_->urls();
}

}  // namespace telegate
