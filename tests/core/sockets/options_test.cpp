#include "core/dealer.hpp"
#include "core/publisher.hpp"
#include "core/router.hpp"
#include "core/subscriber.hpp"
#include "support/catch.hpp"

#include <sys/mman.h>

#include <functional>
#include <span>
#include <stdexcept>
#include <string>

using namespace telegate;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t gib = std::size_t{1} << 30U;
constexpr std::size_t too_large = 2 * gib * (sizeof(std::size_t) / 4);
const std::string most_bytes = sizeof(std::size_t) == 4 ? "1073741824" : "1099511627776";

struct Change {
    std::function<void(PublisherOptions&)> make;
    std::string complaint;
};

/// Returns what the constructor of `Socket` reports for options that it must refuse.
template <class Socket, class Options>
std::string complaint_of(const Options& options) {
    Reactor reactor;
    try {
        const Socket socket(reactor, options);
    } catch (const std::invalid_argument& error) {
        return error.what();
    }
    return "";
}

/// Memory of which no byte may be touched, so that it costs none.
class Untouchable {
  public:
    explicit Untouchable(std::size_t bytes)
        : bytes_(bytes), begin_(::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {
        REQUIRE(begin_ != MAP_FAILED);
    }
    ~Untouchable() { ::munmap(begin_, bytes_); }
    Untouchable(const Untouchable&) = delete;
    Untouchable& operator=(const Untouchable&) = delete;
    [[nodiscard]] Bytes get() const { return {static_cast<const std::byte*>(begin_), bytes_}; }

  private:
    const std::size_t bytes_;
    void* const begin_;
};

}  // namespace

TEST_CASE("an option that a socket cannot work with is reported with its value and the allowed range",
          "[core][options]") {
    const auto& change = GENERATE(
        Change{[](auto& o) { o.sessions_max = 0; }, "sessions_max is out of range: 0; must be 1 to 1048576"},
        Change{[](auto& o) { o.handshakes_max = 0; }, "handshakes_max is out of range: 0; must be 1 to 1048576"},
        Change{[](auto& o) { o.handshakes_per_address_max = 0; },
               "handshakes_per_address_max is out of range: 0; must be 1 to 1048576"},
        Change{[](auto& o) { o.backlog_bytes_max = 0; },
               "backlog_bytes_max is out of range: 0; must be 1 to " + most_bytes},
        Change{[](auto& o) { o.message_bytes_max = 255; },
               "message_bytes_max is out of range: 255; must be 256 to 1073741824"},
        Change{[](auto& o) { o.message_bytes_max = gib + 1; },
               "message_bytes_max is out of range: 1073741825; must be 256 to 1073741824"},
        Change{[](auto& o) { o.frames_per_message_max = 0; },
               "frames_per_message_max is out of range: 0; must be 1 to 1048576"},
        Change{[](auto& o) { o.segment_bytes = 0; }, "segment_bytes is out of range: 0; must be 256 to 16777216"},
        Change{[](auto& o) { o.segment_bytes = 3 * gib; },
               "segment_bytes is out of range: 3221225472; must be 256 to 16777216"},
        Change{[](auto& o) { o.receive_buffer_bytes = 255; },
               "receive_buffer_bytes is out of range: 255; must be 256 to 1048576"},
        Change{[](auto& o) { o.receive_buffer_bytes = 1024 * 1024 + 1; },
               "receive_buffer_bytes is out of range: 1048577; must be 256 to 1048576"},
        Change{[](auto& o) { o.handshake_time_max = 0ms; },
               "handshake_time_max is out of range: 0 ms; must be 1 ms to 86400000 ms"},
        Change{[](auto& o) { o.heartbeat_interval = -1ms; },
               "heartbeat_interval is out of range: -1 ms; must be 0 ms to 86400000 ms"},
        Change{[](auto& o) { o.heartbeat_timeout = 0ms; },
               "heartbeat_timeout is out of range: 0 ms; must be 10 ms to 65000 ms"},
        Change{[](auto& o) { o.heartbeat_timeout = 65'001ms; },
               "heartbeat_timeout is out of range: 65001 ms; must be 10 ms to 65000 ms"},
        Change{[](auto& o) { o.reconnect_first = 0ms; },
               "reconnect_first is out of range: 0 ms; must be 1 ms to 5000 ms"},
        Change{[](auto& o) { o.reconnect_first = 6s; },
               "reconnect_first is out of range: 6000 ms; must be 1 ms to 5000 ms"},
        Change{[](auto& o) { o.reconnect_max = 0ms; },
               "reconnect_max is out of range: 0 ms; must be 1 ms to 86400000 ms"},
        Change{[](auto& o) { o.identity = std::string(300, 'x'); },
               "invalid identity: 300 bytes; must be 1 to 255 bytes and must not start with a zero byte"},
        Change{[](auto& o) { o.identity = std::string("\0x", 2); },
               "invalid identity: 2 bytes, starting with a zero byte; must be 1 to 255 bytes and must not start with a "
               "zero byte"});
    PublisherOptions options;
    change.make(options);
    const SocketOptions common = options;
    CHECK(complaint_of<Publisher>(options) == change.complaint);
    CHECK(complaint_of<Subscriber>(common) == change.complaint);
    CHECK(complaint_of<Dealer>(common) == change.complaint);
    CHECK(complaint_of<Router>(common) == change.complaint);
}

TEST_CASE("a publisher refuses limits on subscriptions that it cannot keep", "[core][options]") {
    const auto& change =
        GENERATE(Change{[](auto& o) { o.subscriptions_max = 2 * gib; },
                        "subscriptions_max is out of range: 2147483648; must be 1 to 1073741824"},
                 Change{[](auto& o) { o.subscriptions_per_peer_max = 0; },
                        "subscriptions_per_peer_max is out of range: 0; must be 1 to 1073741824"},
                 Change{[](auto& o) { o.subscription_bytes_per_peer_max = 0; },
                        "subscription_bytes_per_peer_max is out of range: 0; must be 1 to " + most_bytes});
    PublisherOptions options;
    change.make(options);
    CHECK(complaint_of<Publisher>(options) == change.complaint);
}

TEST_CASE("the defaults and the extreme values are allowed", "[core][options]") {
    const auto& change = GENERATE(
        Change{[](auto&) {}, ""}, Change{[](auto& o) { o.identity = std::string(255, 'x'); }, ""},
        Change{[](auto& o) { o.segment_bytes = o.message_bytes_max = 256; }, ""},
        Change{[](auto& o) { o.segment_bytes = 16 * 1024 * 1024; }, ""},
        Change{[](auto& o) { o.receive_buffer_bytes = 256; }, ""},
        Change{[](auto& o) { o.receive_buffer_bytes = 1024 * 1024; }, ""},
        Change{[](auto& o) { o.message_bytes_max = gib; }, ""}, Change{[](auto& o) { o.heartbeat_interval = 0ms; }, ""},
        Change{[](auto& o) { o.heartbeat_timeout = 65s; }, ""},
        Change{[](auto& o) { o.reconnect_first = o.reconnect_max; }, ""},
        Change{[](auto& o) { o.subscriptions_max = gib; }, ""});
    PublisherOptions options;
    change.make(options);
    CHECK(complaint_of<Publisher>(options).empty());
    CHECK(complaint_of<Dealer>(static_cast<const SocketOptions&>(options)).empty());
}

TEST_CASE("a message that no segment can hold is refused, and the next one is sent", "[core][options]") {
    const Untouchable room(too_large);
    const Bytes frames[] = {room.get()};
    const Endpoint nobody{Transport::tcp, "127.0.0.1", 9, ""};
    Reactor reactor;
    Dealer dealer(reactor, {});
    dealer.connect(nobody);
    CHECK_THROWS_AS((void)dealer.send(frames), std::length_error);
    CHECK(dealer.send({"small"}) == SendStatus::sent);
    Router router(reactor, {});
    router.connect(nobody, "a");
    CHECK_THROWS_AS((void)router.send("a", frames), std::length_error);
    CHECK(router.send("a", {"small"}) == SendStatus::sent);
}

TEST_CASE("a publisher refuses to prepare more than a segment can hold, and continues", "[core][options]") {
    Reactor reactor;
    Publisher publisher(reactor, {});
    const TopicId topic = publisher.intern("a");
    CHECK_THROWS_AS((void)publisher.prepare(topic, too_large), std::length_error);
    (void)publisher.prepare(topic, 10);
    publisher.commit(10);
    CHECK(publisher.totals().messages == 1);
}

TEST_CASE("a message without frames is refused, and the next one is sent", "[core][options]") {
    const Endpoint nobody{Transport::tcp, "127.0.0.1", 9, ""};
    Reactor reactor;
    Dealer dealer(reactor, {});
    CHECK_THROWS_AS((void)dealer.send(std::span<const Bytes>()), std::invalid_argument);
    dealer.connect(nobody);
    CHECK_THROWS_WITH((void)dealer.send(std::span<const Bytes>()), "message has no frames: at least one is required");
    CHECK(dealer.send({"small"}) == SendStatus::sent);
    Router router(reactor, {});
    CHECK_THROWS_AS((void)router.send("nobody", std::span<const Bytes>()), std::invalid_argument);
    router.connect(nobody, "a");
    CHECK_THROWS_WITH((void)router.send("a", std::span<const Bytes>()),
                      "message has no frames: at least one is required");
    CHECK(router.send("a", {"small"}) == SendStatus::sent);
    CHECK(router.totals().matched == 1);
}

TEST_CASE("a closed socket no longer binds or connects", "[core][options]") {
    const Endpoint here{Transport::tcp, "127.0.0.1", 0, ""};
    const Endpoint nobody{Transport::tcp, "127.0.0.1", 9, ""};
    Reactor reactor;
    Router router(reactor, {});
    router.close(0ms, {});
    CHECK_THROWS_AS(router.bind(here), std::logic_error);
    CHECK_THROWS_AS(router.connect(nobody), std::logic_error);
    CHECK_THROWS_AS(router.connect(nobody, "alias"), std::logic_error);
    Dealer dealer(reactor, {});
    dealer.close(0ms, {});
    CHECK_THROWS_AS(dealer.bind(here), std::logic_error);
    CHECK_THROWS_AS(dealer.connect(nobody), std::logic_error);
    Subscriber subscriber(reactor, {});
    subscriber.close();
    CHECK_THROWS_AS(subscriber.bind(here), std::logic_error);
    CHECK_THROWS_AS(subscriber.connect(nobody), std::logic_error);
}
