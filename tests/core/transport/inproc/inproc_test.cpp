#include "core/transport/listening.hpp"
#include "core/transport/stream_reader.hpp"
#include "support/catch.hpp"
#include "support/stream_pair.hpp"

#include <atomic>
#include <cerrno>
#include <optional>
#include <thread>

using namespace telegate;
using namespace telegate::test;

namespace {

Endpoint fresh_name() {
    return fresh_endpoint(Transport::inproc, "");
}

}  // namespace

TEST_CASE("a bound name is an address in use, and free again afterwards", "[core][transport][inproc]") {
    const Endpoint name = fresh_name();
    {
        const Listening listening(name);
        CHECK(listening.endpoint() == name);
        CHECK(listen_error(name) == EADDRINUSE);
    }
    CHECK(listen_error(name) == 0);
}

TEST_CASE("a name is 1 to 255 bytes", "[core][transport][inproc]") {
    CHECK(listen_error({Transport::inproc, "", 0, ""}) == EINVAL);
    CHECK(listen_error({Transport::inproc, "", 0, std::string(256, 'n')}) == EINVAL);
    CHECK(connect_error({Transport::inproc, "", 0, ""}) == EINVAL);
    CHECK(listen_error({Transport::inproc, "", 0, std::string(255, 'n')}) == 0);
}

TEST_CASE("connecting calls back in a later iteration", "[core][transport][inproc]") {
    Listening listening(fresh_name());
    const Connecting connecting(listening.reactor, listening.endpoint());
    CHECK(connecting.calls == 0);
    CHECK(listening.accepted.empty());
    listening.reactor.poll();
    CHECK(connecting.calls == 1);
    CHECK(connecting.stream != nullptr);
    CHECK(listening.accepted.size() == 1);
}

TEST_CASE("a connector waits until the name is bound", "[core][transport][inproc]") {
    const Endpoint name = fresh_name();
    Reactor reactor;
    Connecting first(reactor, name);
    Connecting second(reactor, name);
    reactor.poll();
    CHECK(first.calls == 0);
    Listening listening(name);
    CHECK(first.calls == 0);
    reactor.poll();
    REQUIRE(first.stream != nullptr);
    REQUIRE(second.stream != nullptr);
    REQUIRE(listening.turn_until([&] { return listening.accepted.size() == 2; }));
    CHECK(write_text(*first.stream, "first").bytes == 5);
    StreamReader reader(*listening.accepted[0]);
    CHECK(reader.read() == "first");
}

TEST_CASE("a connector destroyed before the name is bound is not connected", "[core][transport][inproc]") {
    const Endpoint name = fresh_name();
    Reactor reactor;
    Connecting connecting(reactor, name);
    connecting.connector.reset();
    Listening listening(name);
    listening.reactor.poll();
    reactor.poll();
    CHECK(connecting.calls == 0);
    CHECK(listening.accepted.empty());
}

TEST_CASE("a connector destroyed while being connected leaves an ended stream", "[core][transport][inproc]") {
    Listening listening(fresh_name());
    Connecting connecting(listening.reactor, listening.endpoint());
    connecting.connector.reset();
    listening.reactor.poll();
    CHECK(connecting.calls == 0);
    REQUIRE(listening.accepted.size() == 1);
    StreamReader reader(*listening.accepted[0]);
    CHECK(reader.at_end());
}

TEST_CASE("a listener destroyed while accepting leaves an ended stream", "[core][transport][inproc]") {
    Listening listening(fresh_name());
    Reactor reactor;
    Connecting connecting(reactor, listening.endpoint());
    listening.listener.reset();
    listening.reactor.poll();
    reactor.poll();
    CHECK(listening.accepted.empty());
    REQUIRE(connecting.stream != nullptr);
    StreamReader reader(*connecting.stream);
    CHECK(reader.at_end());
}

TEST_CASE("a reactor that is destroyed with an unseen connection ends it", "[core][transport][inproc]") {
    Reactor reactor;
    const Endpoint name = fresh_name();
    std::optional<Listening> listening(name);
    Connecting connecting(reactor, name);
    listening.reset();
    reactor.poll();
    REQUIRE(connecting.stream != nullptr);
    StreamReader reader(*connecting.stream);
    CHECK(reader.at_end());
}

TEST_CASE("a name that is bound again accepts again", "[core][transport][inproc]") {
    const Endpoint name = fresh_name();
    Reactor reactor;
    std::optional<Listening> listening(name);
    listening.reset();
    Connecting connecting(reactor, name);
    reactor.poll();
    CHECK(connecting.calls == 0);
    listening.emplace(name);
    reactor.poll();
    CHECK(connecting.stream != nullptr);
}

TEST_CASE("an inproc attempt can be destroyed in its own callback", "[core][transport][inproc]") {
    Listening listening(fresh_name());
    std::unique_ptr<transport::Connector> connector;
    int calls = 0;
    connector = transport::connect(listening.reactor, listening.endpoint(), [&](std::unique_ptr<Stream>, int) {
        connector.reset();
        ++calls;
    });
    listening.reactor.poll();
    CHECK(calls == 1);
}

TEST_CASE("names are bound and connected from two threads in any order", "[core][transport][inproc][thread]") {
    constexpr int rounds = 300;
    const Endpoint name = fresh_name();
    std::atomic<bool> done{false};
    std::atomic<int> accepted{0};
    std::thread binder([&] {
        for (unsigned round = 0; !done; ++round) {
            Listening listening(name);
            for (unsigned turn = 0; turn < round % 5 && !done; ++turn) {
                listening.reactor.run_for(std::chrono::milliseconds(1));
            }
            accepted += static_cast<int>(listening.accepted.size());
        }
    });
    int connected = 0;
    int abandoned = 0;
    for (int round = 0; round < rounds; ++round) {
        Reactor reactor;
        Connecting connecting(reactor, name);
        if (round % 3 == 0) {
            connecting.connector.reset();
            reactor.poll();
            abandoned += connecting.calls == 0 ? 1 : 0;
        } else {
            connected += eventually([&] {
                reactor.run_for(std::chrono::milliseconds(1));
                return connecting.calls == 1;
            });
        }
    }
    // On a busy machine, each attempt may have ended before it found a listener.
    const bool has_accepted = eventually([&] {
        Reactor reactor;
        Connecting connecting(reactor, name);
        reactor.run_for(std::chrono::milliseconds(1));
        return accepted > 0;
    });
    done = true;
    binder.join();
    CHECK(connected == rounds * 2 / 3);
    CHECK(abandoned == rounds / 3);
    CHECK(has_accepted);
}
