#include "core/limits.hpp"
#include "core/transport/listening.hpp"
#include "core/transport/stream_reader.hpp"
#include "core/unique_fd.hpp"
#include "support/catch.hpp"
#include "support/raw_peer.hpp"
#include "support/scratch_dir.hpp"
#include "support/stream_pair.hpp"

#include <fcntl.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <stdexcept>
#include <vector>

using namespace telegate;
using namespace telegate::test;

namespace {

/// Leaves this process only `spare` more descriptors for its lifetime.
class FewDescriptors {
  public:
    explicit FewDescriptors(std::size_t spare) {
        ::getrlimit(RLIMIT_NOFILE, &before_);
        rlimit few = before_;
        few.rlim_cur = 512;
        ::setrlimit(RLIMIT_NOFILE, &few);
        UniqueFd filler(::open("/dev/null", O_RDONLY | O_CLOEXEC));
        while (filler.get() >= 0) {
            fillers_.push_back(std::move(filler));
            filler = UniqueFd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
        }
        fillers_.resize(fillers_.size() - spare);
    }
    ~FewDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }
    FewDescriptors(const FewDescriptors&) = delete;
    FewDescriptors& operator=(const FewDescriptors&) = delete;

  private:
    rlimit before_{};
    std::vector<UniqueFd> fillers_;
};

}  // namespace

TEST_CASE("only a limited number of connections are accepted before others have their turn", "[core][transport]") {
    const ScratchDir scratch;
    Reactor reactor;
    std::vector<std::unique_ptr<Stream>> accepted;
    std::size_t accepted_in_turn = 0;
    const auto on_accept = [&](std::unique_ptr<Stream> stream) {
        if (accepted.empty()) {
            reactor.post([&] { accepted_in_turn = accepted.size(); });
        }
        accepted.push_back(std::move(stream));
    };
    const auto wanted = fresh_endpoint(GENERATE(Transport::tcp, Transport::ipc), scratch.path());
    const auto listener = transport::listen(reactor, wanted, {}, {on_accept, [](int) {
                                                                  }});
    std::vector<RawPeer> peers;
    for (std::size_t count = 0; count < limits::accepts_per_turn + 10; ++count) {
        peers.emplace_back(listener->endpoint());
    }
    CHECK(eventually([&] {
        reactor.poll();
        return accepted.size() == peers.size();
    }));
    CHECK(accepted_in_turn == limits::accepts_per_turn);
}

TEST_CASE("without descriptors new connections are closed at once and reported, and old peers are served",
          "[core][transport]") {
    const ScratchDir scratch;
    Listening listening(fresh_endpoint(GENERATE(Transport::tcp, Transport::ipc), scratch.path()));
    RawPeer old(listening.endpoint());
    REQUIRE(listening.turn_until([&] { return listening.accepted.size() == 1; }));
    {
        const FewDescriptors few(3);
        std::vector<RawPeer> newcomers;
        for (int count = 0; count < 3; ++count) {
            newcomers.emplace_back(listening.endpoint());
        }
        CHECK(listening.turn_until([&] {
            return std::all_of(newcomers.begin(), newcomers.end(), [](RawPeer& peer) {
                peer.read();
                return peer.at_end();
            });
        }));
        CHECK(listening.accepted.size() == 1);
        CHECK(listening.errors == std::vector<int>(3, EMFILE));
        CHECK(write_text(*listening.accepted[0], "still here").status == IoStatus::ok);
        CHECK(listening.turn_until([&] { return old.read() == "still here"; }));
    }
    const RawPeer late(listening.endpoint());
    CHECK(listening.turn_until([&] { return listening.accepted.size() == 2; }));
}

TEST_CASE("a listener without descriptors does not spin", "[core][transport]") {
    Listening listening(fresh_endpoint(Transport::tcp, ""));
    const FewDescriptors few(1);
    const RawPeer newcomer(listening.endpoint());
    REQUIRE(listening.turn_until([&] { return !listening.errors.empty(); }));
    int turns = 0;
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(300);
    while (std::chrono::steady_clock::now() < end) {
        turns += listening.reactor.run_for(std::chrono::milliseconds(50)) ? 1 : 0;
    }
    CHECK(turns <= 5);
    CHECK(listening.errors.size() == 1);
}

TEST_CASE("a lack of descriptors is a connector's error, in a later iteration", "[core][transport]") {
    const ScratchDir scratch;
    Listening listening(fresh_endpoint(GENERATE(Transport::tcp, Transport::ipc, Transport::inproc), scratch.path()));
    const FewDescriptors few(0);
    Connecting connecting(listening.reactor, listening.endpoint());
    CHECK(connecting.calls == 0);
    CHECK(listening.turn_until([&] { return connecting.calls == 1; }));
    CHECK(connecting.stream == nullptr);
    CHECK(connecting.error == EMFILE);
}

TEST_CASE("a listener can be destroyed in its own callback", "[core][transport]") {
    const ScratchDir scratch;
    const Endpoint wanted = fresh_endpoint(GENERATE(Transport::tcp, Transport::ipc, Transport::inproc), scratch.path());
    Reactor reactor;
    int calls = 0;
    std::unique_ptr<transport::Listener> listener;
    const auto on_accept = [&](std::unique_ptr<Stream>) {
        ++calls;
        listener.reset();
    };
    listener = transport::listen(reactor, wanted, {}, {on_accept, [](int) {
                                                       }});
    Connecting first(reactor, listener->endpoint());
    Connecting second(reactor, listener->endpoint());
    CHECK(eventually([&] {
        reactor.poll();
        return listener == nullptr;
    }));
    reactor.poll();
    CHECK(calls == 1);
}

TEST_CASE("an exception from a callback is passed on, and the listener continues", "[core][transport]") {
    const ScratchDir scratch;
    const Endpoint wanted = fresh_endpoint(GENERATE(Transport::tcp, Transport::ipc, Transport::inproc), scratch.path());
    Reactor reactor;
    int calls = 0;
    int passed_on = 0;
    const auto on_accept = [&](std::unique_ptr<Stream>) {
        if (++calls == 1) {
            throw std::runtime_error("once");
        }
    };
    const auto listener = transport::listen(reactor, wanted, {}, {on_accept, [](int) {
                                                                  }});
    const Connecting first(reactor, listener->endpoint());
    const Connecting second(reactor, listener->endpoint());
    CHECK(eventually([&] {
        try {
            reactor.poll();
        } catch (const std::runtime_error&) {
            ++passed_on;
        }
        return calls == 2;
    }));
    CHECK(passed_on == 1);
}

TEST_CASE("a listener that is destroyed in its own callback leaves the endpoint free", "[core][transport]") {
    const ScratchDir scratch;
    const Endpoint wanted = fresh_endpoint(GENERATE(Transport::tcp, Transport::ipc, Transport::inproc), scratch.path());
    Reactor reactor;
    int error = -1;
    std::unique_ptr<transport::Listener> listener;
    const auto on_accept = [&](std::unique_ptr<Stream>) {
        const Endpoint endpoint = listener->endpoint();
        listener.reset();
        error = listen_error(endpoint);
    };
    listener = transport::listen(reactor, wanted, {}, {on_accept, [](int) {
                                                       }});
    const Connecting connecting(reactor, listener->endpoint());
    CHECK(eventually([&] {
        reactor.poll();
        return listener == nullptr;
    }));
    CHECK(error == 0);
}

TEST_CASE("a destroyed listener accepts no connection", "[core][transport]") {
    const ScratchDir scratch;
    Listening listening(fresh_endpoint(GENERATE(Transport::tcp, Transport::ipc), scratch.path()));
    RawPeer peer(listening.endpoint());
    listening.listener.reset();
    CHECK(listening.turn_until([&] {
        peer.read();
        return peer.at_end();
    }));
    CHECK(listening.accepted.empty());
}
