#include "conformance/conformance.hpp"

using namespace telegate;
using namespace telegate::test;

namespace {

/// A bound router and dealers connected to it.
class RouterBench : public Bench {
  public:
    explicit RouterBench(const TransportTraits& over, SocketOptions options = {})
        : router(reactor, std::move(options)), inbox(router) {
        router.set_monitor(events.handler());
        endpoint = router.bind(over.to_bind(scratch));
    }

    std::unique_ptr<Dealer> dealer(const std::string& identity, SocketOptions options = {}) {
        options.identity = identity;
        const std::size_t before = events.count(MonitorEventKind::handshake_done);
        auto out = std::make_unique<Dealer>(reactor, std::move(options));
        out->connect(endpoint);
        REQUIRE(turn_until([&] { return events.count(MonitorEventKind::handshake_done) > before; }));
        return out;
    }

    MonitorLog events;
    Router router;
    Inbox<Router> inbox;
    Endpoint endpoint;
};

}  // namespace

TEST_CASE("a router sends to the named peer and to no other", "[conformance]") {
    const TransportTraits& over = each_transport();
    CAPTURE(over.name);
    RouterBench bench(over);
    const std::string binary("\1\0\xFF", 3);
    const std::string longest(255, 'x');
    std::vector<std::unique_ptr<Dealer>> dealers;
    std::vector<Inbox<Dealer>> inboxes;
    for (const std::string& identity : {std::string("a"), binary, longest}) {
        dealers.push_back(bench.dealer(identity));
        inboxes.emplace_back(*dealers.back());
        REQUIRE(bench.router.send(identity, {identity}) == SendStatus::sent);
    }
    for (std::size_t index = 0; index < inboxes.size(); ++index) {
        REQUIRE(bench.turn_until([&] { return inboxes[index].receive() == 1; }));
        REQUIRE(dealers[index]->send(std::initializer_list<std::string_view>{inboxes[index].messages[0][0]}) ==
                SendStatus::sent);
    }
    REQUIRE(bench.turn_until([&] { return bench.inbox.receive() == 3; }));
    for (std::size_t index = 0; index < 3; ++index) {
        CHECK(bench.inbox.messages[index] == Frames{bench.inbox.peers[index]});
    }
}

TEST_CASE("a peer without an identity gets one of five bytes that begins with zero", "[conformance]") {
    const TransportTraits& over = each_transport();
    CAPTURE(over.name);
    RouterBench bench(over);
    const auto one = bench.dealer("");
    const auto two = bench.dealer("");
    REQUIRE(one->send({"one"}) == SendStatus::sent);
    REQUIRE(two->send({"two"}) == SendStatus::sent);
    REQUIRE(bench.turn_until([&] { return bench.inbox.receive() == 2; }));
    CHECK(bench.inbox.peers.at(0) != bench.inbox.peers.at(1));
    for (std::size_t index = 0; index < 2; ++index) {
        const std::string& identity = bench.inbox.peers[index];
        CHECK(identity.size() == 5);
        CHECK(identity.front() == '\0');
        REQUIRE(bench.router.send(identity, {"to", bench.inbox.messages[index][0]}) == SendStatus::sent);
    }
    Inbox at_one(*one);
    Inbox at_two(*two);
    CHECK(bench.turn_until([&] { return at_one.receive() == 1 && at_two.receive() == 1; }));
    CHECK(at_one.messages.at(0) == Frames{"to", "one"});
    CHECK(at_two.messages.at(0) == Frames{"to", "two"});
}

TEST_CASE("a new connection takes over the identity that it sends", "[conformance]") {
    const TransportTraits& over = each_transport();
    CAPTURE(over.name);
    RouterBench bench(over);
    SocketOptions patient;
    patient.reconnect_first = std::chrono::seconds(10);
    patient.reconnect_max = patient.reconnect_first;
    const auto old_one = bench.dealer("same", patient);
    const auto new_one = bench.dealer("same", patient);
    REQUIRE(bench.turn_until([&] { return bench.router.peers().size() == 1; }));
    CHECK(bench.events.count(MonitorEventKind::disconnected) == 1);
    REQUIRE(bench.router.send("same", {"for the new peer"}) == SendStatus::sent);
    Inbox inbox(*new_one);
    Inbox none(*old_one);
    REQUIRE(bench.turn_until([&] { return inbox.receive() == 1; }));
    CHECK(none.receive() == 0);
}

TEST_CASE("an identity that no peer has, or no longer has, is an unknown peer", "[conformance]") {
    const TransportTraits& over = each_transport();
    CAPTURE(over.name);
    RouterBench bench(over);
    CHECK(bench.router.send("nobody", {"x"}) == SendStatus::unknown_peer);
    CHECK(bench.router.send("", {"x"}) == SendStatus::unknown_peer);
    auto dealer = bench.dealer("somebody");
    CHECK(bench.router.send("somebody", {"x"}) == SendStatus::sent);
    dealer.reset();
    REQUIRE(bench.turn_until([&] { return bench.router.peers().empty(); }));
    CHECK(bench.router.send("somebody", {"x"}) == SendStatus::unknown_peer);
    CHECK(adds_up(bench.router.totals()));
}

TEST_CASE("a peer with a full backlog is not unknown, and the handler is called when it has capacity",
          "[conformance]") {
    const TransportTraits& over = each_transport();
    CAPTURE(over.name);
    SocketOptions options;
    options.backlog_bytes_max = 256 * 1024;
    RouterBench bench(over, options);
    std::vector<std::string> writable;
    const auto reader = bench.dealer("reader");
    bench.router.set_on_writable([&](std::string_view peer) { writable.emplace_back(peer); });

    const std::string body(64 * 1024, 'x');
    std::size_t sent = 0;
    SendStatus status = SendStatus::sent;
    while (status == SendStatus::sent && sent < 10'000) {
        status = bench.router.send("reader", {std::to_string(sent), body});
        sent += status == SendStatus::sent ? 1 : 0;
        bench.router.flush();
        bench.reactor.poll();
    }
    REQUIRE(status == SendStatus::full);
    CHECK(bench.router.peers().at(0).backlog_bytes <= options.backlog_bytes_max + body.size() + 64);
    CHECK(writable.empty());

    Inbox inbox(*reader);
    REQUIRE(bench.turn_until([&] { return inbox.receive() == sent; }));
    CHECK(bench.turn_until([&] { return !writable.empty(); }));
    CHECK(writable.at(0) == "reader");
    REQUIRE(bench.router.send("reader", {"again"}) == SendStatus::sent);
    REQUIRE(bench.turn_until([&] { return inbox.receive() == sent + 1; }));
    for (std::size_t number = 0; number < sent; ++number) {
        REQUIRE(inbox.messages[number].at(0) == std::to_string(number));
    }
    CHECK(adds_up(bench.router.totals()));
    CHECK(bench.router.totals().dropped == 0);
}

TEST_CASE("a dealer sends to its peers in turn and passes over a full one", "[conformance]") {
    const TransportTraits& over = each_transport();
    CAPTURE(over.name);
    Bench bench;
    SocketOptions options;
    options.backlog_bytes_max = 64 * 1024;
    Dealer dealer(bench.reactor, options);
    CHECK(dealer.send({"to nobody"}) == SendStatus::unknown_peer);
    bool writable = false;
    dealer.set_on_writable([&] { writable = true; });
    const Endpoint endpoint = dealer.bind(over.to_bind(bench.scratch));
    Dealer one(bench.reactor, {});
    Dealer two(bench.reactor, {});
    one.connect(endpoint);
    two.connect(endpoint);
    REQUIRE(bench.turn_until([&] { return dealer.peers().size() == 2; }));
    CHECK(writable);

    Inbox at_one(one);
    Inbox at_two(two);
    for (int number = 0; number < 10; ++number) {
        REQUIRE(dealer.send({std::to_string(number)}) == SendStatus::sent);
    }
    REQUIRE(bench.turn_until([&] { return at_one.receive() == 5 && at_two.receive() == 5; }));

    const std::string body(64 * 1024, 'x');
    std::size_t sent = 0;
    const auto fill = [&] {
        while (sent < 5'000 && dealer.send({body}) == SendStatus::sent) {
            ++sent;
            dealer.flush();
        }
        bench.turn();
        at_two.receive();
        return at_two.messages.size() > 40;
    };
    REQUIRE(bench.turn_until(fill));
    CHECK(bench.turn_until([&] { return at_one.receive() + at_two.receive() == sent + 10; }));
    CHECK(at_one.messages.size() <= at_two.messages.size());
    CHECK(adds_up(dealer.totals()));
    CHECK(dealer.totals().dropped == 0);
}

TEST_CASE("messages that a dealer has sent wait for its peer to reconnect", "[conformance]") {
    const TransportTraits& over = each_transport();
    CAPTURE(over.name);
    Bench bench;
    const Endpoint endpoint = over.known(bench.scratch);
    SocketOptions impatient;
    impatient.reconnect_first = std::chrono::milliseconds(5);
    Dealer dealer(bench.reactor, impatient);
    dealer.connect(endpoint);
    {
        Router router(bench.reactor, {});
        router.bind(endpoint);
        REQUIRE(bench.turn_until([&] { return dealer.peers().size() == 1; }));
    }
    REQUIRE(bench.turn_until([&] { return dealer.peers().empty(); }));
    for (const Frames& frames : numbered(50)) {
        REQUIRE(send_frames(dealer, frames) == SendStatus::sent);
    }
    Router router(bench.reactor, {});
    router.bind(endpoint);
    Inbox inbox(router);
    REQUIRE(bench.turn_until([&] { return inbox.receive() == 50; }));
    CHECK(inbox.messages == numbered(50));
    CHECK(dealer.totals().dropped == 0);
    CHECK(adds_up(dealer.totals()));
}

TEST_CASE("requests and replies pass through a router and a dealer in the middle", "[conformance]") {
    const TransportTraits& over = each_transport();
    CAPTURE(over.name);
    constexpr std::size_t count = 200;
    RouterBench front(over);
    Reactor& reactor = front.reactor;
    Dealer back(reactor, {});
    Router worker(reactor, {});
    worker.connect(back.bind(over.to_bind(front.scratch)));
    const auto asker = front.dealer("asker");
    const auto other = front.dealer("other");

    Inbox requests(front.router);
    Inbox answers(back);
    Inbox work(worker);
    Inbox at_asker(*asker);
    Inbox at_other(*other);
    for (std::size_t number = 0; number < count; ++number) {
        REQUIRE(asker->send({"", "asked", std::to_string(number)}) == SendStatus::sent);
        REQUIRE(other->send({"", "other", std::to_string(number)}) == SendStatus::sent);
    }
    const auto forward = [&] {
        for (std::size_t next = requests.messages.size(), end = requests.receive(); next < end; ++next) {
            Frames frames = requests.messages[next];
            frames.insert(frames.begin(), requests.peers[next]);
            REQUIRE(send_frames(back, frames) == SendStatus::sent);
        }
        for (std::size_t next = work.messages.size(), end = work.receive(); next < end; ++next) {
            REQUIRE(send_frames(worker, work.messages[next], std::string_view(work.peers[next])) == SendStatus::sent);
        }
        for (std::size_t next = answers.messages.size(), end = answers.receive(); next < end; ++next) {
            Frames frames = answers.messages[next];
            const std::string peer = frames.front();
            frames.erase(frames.begin());
            REQUIRE(send_frames(front.router, frames, std::string_view(peer)) == SendStatus::sent);
        }
        return at_asker.receive() == count && at_other.receive() == count;
    };
    REQUIRE(front.turn_until(forward));
    for (std::size_t number = 0; number < count; ++number) {
        REQUIRE(at_asker.messages[number] == Frames{"", "asked", std::to_string(number)});
        REQUIRE(at_other.messages[number] == Frames{"", "other", std::to_string(number)});
    }
}
