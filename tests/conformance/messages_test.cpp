#include "conformance/conformance.hpp"

#include <map>

using namespace telegate;
using namespace telegate::test;

namespace {

/// Returns bytes that differ by position, so that a misplaced piece is detected.
std::string body_of(std::size_t bytes) {
    std::string out(bytes, '\0');
    for (std::size_t index = 0; index < bytes; ++index) {
        out[index] = static_cast<char>((index * 131 + (index >> 8U)) & 0xFFU);
    }
    return out;
}

/// Sends `frames` from the router to the dealer and back.
void check_echo(Pair<Router, Dealer>& pair, const Frames& frames) {
    Inbox at_dealer(pair.second);
    Inbox at_router(pair.first);
    REQUIRE(send_frames(pair.first, frames, std::string_view("second")) == SendStatus::sent);
    REQUIRE(pair.turn_until([&] { return at_dealer.receive() == 1; }));
    REQUIRE((at_dealer.messages.at(0) == frames));
    REQUIRE(send_frames(pair.second, at_dealer.messages.at(0)) == SendStatus::sent);
    REQUIRE(pair.turn_until([&] { return at_router.receive() == 1; }));
    REQUIRE((at_router.messages.at(0) == frames));
}

}  // namespace

TEST_CASE("frames of every size class arrive unchanged", "[conformance]") {
    const TransportTraits& over = each_transport();
    CAPTURE(over.name);
    Pair<Router, Dealer> pair(over);
    REQUIRE(pair.is_open());
    for (const auto bytes : std::initializer_list<std::size_t>{0, 1, 2, 254, 255, 256, 257, 4'095, 4'096, 65'535,
                                                               65'536, 65'537, 1'048'576}) {
        CAPTURE(bytes);
        check_echo(pair, {body_of(bytes)});
        check_echo(pair, {body_of(bytes), body_of(bytes)});
    }
}

TEST_CASE("empty frames and messages with only empty frames arrive unchanged", "[conformance]") {
    const TransportTraits& over = each_transport();
    CAPTURE(over.name);
    Pair<Router, Dealer> pair(over);
    REQUIRE(pair.is_open());
    check_echo(pair, {""});
    check_echo(pair, {"", ""});
    check_echo(pair, {"", "", ""});
    check_echo(pair, {"", "body"});
    check_echo(pair, {"head", ""});
    check_echo(pair, {"head", "", "body", ""});
}

TEST_CASE("messages of one to a thousand frames arrive whole", "[conformance]") {
    const TransportTraits& over = each_transport();
    CAPTURE(over.name);
    Pair<Router, Dealer> pair(over);
    REQUIRE(pair.is_open());
    for (const std::size_t count : {1U, 2U, 3U, 63U, 64U, 65U, 100U, 1'000U}) {
        CAPTURE(count);
        Frames frames;
        for (std::size_t index = 0; index < count; ++index) {
            frames.push_back(body_of(index % 300));
        }
        check_echo(pair, frames);
    }
}

TEST_CASE("published payloads of every size class arrive unchanged", "[conformance]") {
    const TransportTraits& over = each_publisher_transport();
    CAPTURE(over.name);
    Pair<Publisher, Subscriber> pair(over);
    REQUIRE(subscribe_to(pair, {""}));
    Inbox inbox(pair.second);
    std::vector<Frames> sent;
    for (const auto bytes : std::initializer_list<std::size_t>{0, 1, 254, 255, 256, 257, 65'535, 65'536, 1'048'576}) {
        sent.push_back({"topic", body_of(bytes)});
        sent.push_back({"", body_of(bytes)});
        sent.push_back({body_of(std::min<std::size_t>(bytes, 1'000)), "payload"});
    }
    for (const Frames& frames : sent) {
        pair.first.send(frames[0], frames[1]);
    }
    REQUIRE(pair.turn_until([&] { return inbox.receive() == sent.size(); }));
    CHECK((inbox.messages == sent));
}

TEST_CASE("a message committed in place arrives unchanged", "[conformance]") {
    const TransportTraits& over = each_publisher_transport();
    CAPTURE(over.name);
    Pair<Publisher, Subscriber> pair(over);
    REQUIRE(subscribe_to(pair, {"topic"}));
    const TopicId topic = pair.first.intern("topic");
    CHECK(pair.first.wanted(topic));
    CHECK_FALSE(pair.first.wanted(pair.first.intern("other")));
    char* room = pair.first.prepare(topic, 100);
    std::copy_n("payload", 7, room);
    pair.first.commit(7);
    pair.first.skip();
    pair.first.flush();
    Inbox inbox(pair.second);
    REQUIRE(pair.turn_until([&] { return inbox.receive() == 1; }));
    CHECK(inbox.messages.at(0) == Frames{"topic", "payload"});
    CHECK(pair.first.totals().messages == 2);
}

TEST_CASE("messages of one peer keep their order while others send too", "[conformance]") {
    const TransportTraits& over = each_transport();
    CAPTURE(over.name);
    constexpr std::size_t count = 5'000;
    Bench bench;
    Router router(bench.reactor, {});
    const Endpoint endpoint = router.bind(over.to_bind(bench.scratch));
    std::vector<std::unique_ptr<Dealer>> dealers;
    for (const char* name : {"one", "two", "three"}) {
        dealers.push_back(std::make_unique<Dealer>(bench.reactor, named<Dealer>(name)));
        dealers.back()->connect(endpoint);
    }
    for (std::size_t number = 0; number < count; ++number) {
        for (const auto& dealer : dealers) {
            REQUIRE(dealer->send({std::to_string(number), "body"}) == SendStatus::sent);
        }
    }
    Inbox inbox(router);
    REQUIRE(bench.turn_until([&] { return inbox.receive() == 3 * count; }));
    std::map<std::string, std::size_t> next;
    bool in_order = true;
    for (std::size_t index = 0; index < inbox.messages.size(); ++index) {
        in_order = in_order && inbox.messages[index].at(0) == std::to_string(next[inbox.peers[index]]++);
    }
    CHECK(in_order);
    CHECK(next.size() == 3);
}

TEST_CASE("a hundred thousand published messages arrive in order, none lost", "[conformance]") {
    const TransportTraits& over = each_publisher_transport();
    CAPTURE(over.name);
    constexpr std::size_t count = 100'000;
    Pair<Publisher, Subscriber> pair(over);
    REQUIRE(subscribe_to(pair, {"t"}));
    const TopicId topic = pair.first.intern("topic");
    MessageBatch batch;
    std::size_t next = 0;
    std::size_t sent = 0;
    bool in_order = true;
    REQUIRE(pair.turn_until([&] {
        for (std::size_t burst = 0; burst < 1'000 && sent < count; ++burst) {
            pair.first.send(topic, std::to_string(sent++));
        }
        while (pair.second.receive(batch)) {
            for (const Message message : batch) {
                in_order = in_order && message.text(1) == std::to_string(next++);
            }
        }
        return next == count || !in_order;
    }));
    CHECK(in_order);
    CHECK(pair.second.totals().received == count);
    CHECK(adds_up(pair.first.totals()));
    CHECK(pair.first.totals().sent == count);
    CHECK(pair.first.totals().dropped == 0);
}
