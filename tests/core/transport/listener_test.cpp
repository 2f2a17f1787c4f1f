#include "core/limits.hpp"
#include "core/transport/listening.hpp"
#include "core/transport/stream_reader.hpp"
#include "support/catch.hpp"
#include "support/raw_peer.hpp"
#include "support/scratch_dir.hpp"
#include "support/stream_pair.hpp"
#include "transport/unique_fd.hpp"

#include <fcntl.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <vector>

using namespace telegate;
using namespace telegate::test;

namespace {

/// Leaves this process only `spare` more descriptors, for as long as it lives.
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

TEST_CASE("only so many connections are accepted before others have their turn", "[core][transport]") {
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

TEST_CASE("without descriptors newcomers are closed at once, each is reported, and old peers are served",
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

TEST_CASE("a lack of descriptors is an error for who connects, in a later turn", "[core][transport]") {
    const ScratchDir scratch;
    Listening listening(fresh_endpoint(GENERATE(Transport::tcp, Transport::ipc, Transport::inproc), scratch.path()));
    const FewDescriptors few(0);
    Connecting connecting(listening.reactor, listening.endpoint());
    CHECK(connecting.calls == 0);
    CHECK(listening.turn_until([&] { return connecting.calls == 1; }));
    CHECK(connecting.stream == nullptr);
    CHECK(connecting.error == EMFILE);
}

TEST_CASE("a listener may be destroyed in its own call", "[core][transport]") {
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

TEST_CASE("a listener that has gone accepts nobody", "[core][transport]") {
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
