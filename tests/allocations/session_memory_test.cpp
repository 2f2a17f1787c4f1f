#include "core/publisher.hpp"
#include "core/reactor.hpp"
#include "core/router.hpp"
#include "memory_rounds.hpp"
#include "support/catch.hpp"
#include "support/raw_peer.hpp"
#include "support/zmtp_text.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <new>
#include <string>
#include <thread>

using namespace telegate;
using namespace telegate::test;

namespace {

/// A thread that runs an event loop, and continues after std::bad_alloc.
class LoopThread {
  public:
    LoopThread() : thread_([this] { run(); }) {}
    ~LoopThread() {
        is_over_ = true;
        reactor.stop();
        thread_.join();
    }
    LoopThread(const LoopThread&) = delete;
    LoopThread& operator=(const LoopThread&) = delete;

    /// Makes a call on the thread and waits for it.
    void call(const std::function<void()>& made) {
        std::promise<void> done;
        reactor.post([&] {
            const SparedThread spared;
            made();
            done.set_value();
        });
        done.get_future().wait();
    }

    Reactor reactor;

  private:
    void run() {
        while (!is_over_) {
            try {
                reactor.run();
            } catch (const std::bad_alloc&) {  // thrown by one handler
            }
        }
    }

    std::atomic<bool> is_over_{false};
    std::thread thread_;
};

Endpoint any_port() {
    return {Transport::tcp, "127.0.0.1", 0, ""};
}

/// Waits until the peer has received the text, or its connection is closed. Returns whether it received the text.
bool is_sent(RawPeer& peer, const std::string& text, const std::function<void()>& meanwhile) {
    const auto has_come = [&] {
        return peer.read().find(text) != std::string::npos;
    };
    REQUIRE(eventually([&] {
        meanwhile();
        return has_come() || peer.at_end();
    }));
    return has_come();
}

}  // namespace

TEST_CASE("a subscriber for which there is no memory loses at most its own connection", "[core][allocations]") {
    const SparedThread spared;
    const auto failures = GENERATE(std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{5});
    PublisherOptions options;
    options.io_threads = GENERATE(std::size_t{1}, std::size_t{2});
    CAPTURE(failures, options.io_threads);
    LoopThread loop;
    std::unique_ptr<Publisher> publisher;
    Endpoint endpoint;
    loop.call([&] {
        publisher = std::make_unique<Publisher>(loop.reactor, options);
        endpoint = publisher->bind(any_port());
    });
    const auto subscribe_once = [&] {
        RawPeer peer(endpoint);
        peer.send(greeting() + ready("SUB") + subscribe("topic"));
        return is_sent(peer, "payload", [&] { loop.reactor.post([&] { publisher->send("topic", "payload"); }); });
    };
    fail_each_allocation(
        failures, [&] { (void)subscribe_once(); }, [&] { CHECK(subscribe_once()); });
    loop.call([&] { publisher.reset(); });
}

TEST_CASE("a request for which there is no memory closes at most its own connection", "[core][allocations]") {
    const SparedThread spared;
    const auto failures = GENERATE(std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{5});
    CAPTURE(failures);
    LoopThread loop;
    std::unique_ptr<Router> router;
    Endpoint endpoint;
    loop.call([&] {
        router = std::make_unique<Router>(loop.reactor, SocketOptions());
        endpoint = router->bind(any_port());
        router->set_on_readable([&] {
            MessageBatch batch;
            while (router->receive(batch)) {
                (void)router->send(batch.peer(), {"answer"});
            }
        });
    });
    const auto ask_once = [&] {
        RawPeer peer(endpoint);
        peer.send(greeting() + ready("DEALER", "a peer with a long name") + frame(0, std::string(500, 'q')));
        return is_sent(peer, "answer", [] {});
    };
    fail_each_allocation(
        failures, [&] { (void)ask_once(); }, [&] { CHECK(ask_once()); });
    loop.call([&] { router.reset(); });
}
