#include "uplink/delivery.hpp"

#include "support/catch.hpp"
#include "support/rounds.hpp"

#include <random>
#include <set>
#include <string>
#include <vector>

namespace telegate::uplink {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// Returns message `number` of a log in which each block has one position and one message.
OutgoingMessage message(store::Position number) {
    OutgoingMessage message;
    message.id = std::to_string(number);
    message.position = number;
    message.end_position = number + 1;
    message.samples = 10;
    message.utc_max_ns = static_cast<std::int64_t>(number) * 1'000;
    return message;
}

struct Fixture {
    MonoTime now{seconds(1)};
    Delivery delivery{{}, 0};

    void add(store::Position first, store::Position end) {
        for (; first < end; ++first) {
            delivery.add(message(first));
        }
    }
    std::vector<std::string> send_all() {
        std::vector<std::string> sent;
        while (const OutgoingMessage* const next = delivery.next(now)) {
            sent.push_back(next->id);
            delivery.sent(now);
        }
        return sent;
    }
};

using Ids = std::vector<std::string>;

}  // namespace

TEST_CASE("messages are sent in order while their predecessors are in flight", "[uplink][delivery]") {
    Fixture f;
    f.add(0, 3);
    CHECK(f.send_all().empty());
    f.delivery.connected();
    CHECK(f.send_all() == Ids{"0", "1", "2"});
    CHECK(f.delivery.settled() == 0);
}

TEST_CASE("a message is settled when all messages before it are acknowledged", "[uplink][delivery]") {
    Fixture f;
    f.add(0, 3);
    f.delivery.connected();
    f.send_all();
    f.delivery.acknowledged(1, false);
    f.delivery.acknowledged(2, true);
    CHECK(f.delivery.settled() == 0);
    CHECK(f.delivery.delivered_utc_ns() == 0);
    f.delivery.acknowledged(0, false);
    CHECK(f.delivery.settled() == 3);
    CHECK(f.delivery.delivered_utc_ns() == 2'000);
    CHECK(f.delivery.counts().duplicates == 1);
    CHECK(f.delivery.ledger().acknowledged == 30);
}

TEST_CASE("a block is settled with its last part", "[uplink][delivery]") {
    Fixture f;
    for (std::uint32_t part = 0; part < 3; ++part) {
        OutgoingMessage each = message(5);
        each.part = part;
        each.is_last_part = part == 2;
        f.delivery.add(each);
    }
    f.delivery.connected();
    f.send_all();
    f.delivery.acknowledged(0, false);
    f.delivery.acknowledged(1, false);
    CHECK(f.delivery.settled() == 0);
    f.delivery.acknowledged(2, false);
    CHECK(f.delivery.settled() == 6);
}

TEST_CASE("positions without messages are settled in order", "[uplink][delivery]") {
    Fixture f;
    f.delivery.skip_to(4);
    CHECK(f.delivery.settled() == 4);
    f.add(4, 5);
    f.delivery.skip_to(9);
    f.delivery.connected();
    f.send_all();
    CHECK(f.delivery.settled() == 4);
    f.delivery.acknowledged(0, false);
    CHECK(f.delivery.settled() == 9);
}

TEST_CASE("after a refusal, nothing is sent until the other responses have arrived and a delay has passed",
          "[uplink][delivery]") {
    Fixture f;
    f.add(0, 4);
    f.delivery.connected();
    f.send_all();
    f.delivery.refused(1, Refusal::transient, {f.now});
    f.now += seconds(60);
    CHECK(f.delivery.state() == DeliveryState::settling);
    CHECK(f.send_all().empty());
    f.delivery.acknowledged(0, false);
    f.delivery.refused(2, Refusal::transient, {f.now});
    f.delivery.acknowledged(3, false);
    CHECK(f.delivery.state() == DeliveryState::backing_off);
    CHECK(f.send_all() == Ids{"1", "2"});
    CHECK(f.delivery.counts().resent == 2);
    CHECK(f.delivery.counts().refused == 2);
}

TEST_CASE("after a connection ends, everything in flight is sent again", "[uplink][delivery]") {
    Fixture f;
    f.add(0, 4);
    f.delivery.connected();
    f.send_all();
    f.delivery.acknowledged(1, false);
    f.delivery.disconnected(f.now);
    CHECK_FALSE(f.delivery.may_connect(f.now));
    CHECK(f.delivery.next(f.now) == nullptr);
    f.now = f.delivery.due();
    CHECK(f.delivery.may_connect(f.now));
    f.delivery.connected();
    CHECK(f.send_all() == Ids{"0", "2", "3"});
}

TEST_CASE("the delay doubles with each failure in a row up to a maximum", "[uplink][delivery]") {
    Fixture f;
    f.add(0, 2);
    milliseconds longest{250};
    for (int i = 0; i < 12; ++i) {
        f.delivery.disconnected(f.now);
        const auto delay = f.delivery.due() - f.now;
        CHECK(delay <= longest);
        CHECK(delay >= longest / 2);
        f.now = f.delivery.due();
        longest = std::min(longest * 2, milliseconds(30'000));
    }
    f.delivery.connected();
    f.send_all();
    f.delivery.acknowledged(0, false);
    f.delivery.disconnected(f.now);
    CHECK(f.delivery.due() - f.now <= milliseconds(250));
}

TEST_CASE("after a refused connection, the next one follows soon, however long the outage was", "[uplink][delivery]") {
    Fixture f;
    for (int i = 0; i < 12; ++i) {
        f.delivery.disconnected(f.now);
    }
    CHECK(f.delivery.due() - f.now > seconds(10));
    f.delivery.disconnected(f.now, true);
    CHECK(f.delivery.due() - f.now <= seconds(2));
    CHECK(f.delivery.due() - f.now >= seconds(1));
}

TEST_CASE("a late response makes the connection count as broken", "[uplink][delivery]") {
    Fixture f;
    f.add(0, 1);
    f.delivery.connected();
    CHECK(f.delivery.due() == MonoTime::max());
    f.send_all();
    CHECK_FALSE(f.delivery.is_overdue(f.now));
    CHECK(f.delivery.due() == f.now + seconds(10));
    CHECK(f.delivery.is_overdue(f.now + seconds(10)));
    f.delivery.acknowledged(0, false);
    CHECK_FALSE(f.delivery.is_overdue(f.now + seconds(10)));
}

TEST_CASE("a message is rejected after permanent refusals, when nothing is in flight", "[uplink][delivery]") {
    Fixture f;
    f.add(0, 3);
    f.delivery.connected();
    for (int i = 0; i < 3; ++i) {
        CHECK(f.delivery.rejected().empty());
        f.send_all();
        const std::uint64_t number = 1;
        f.delivery.refused(number, Refusal::permanent, {f.now});
        CHECK(f.delivery.rejected().empty());
        f.delivery.acknowledged(0, false);
        f.delivery.refused(2, Refusal::transient, {f.now});
        f.now = f.delivery.due();
    }
    REQUIRE(f.delivery.rejected().size() == 1);
    CHECK(f.delivery.rejected().front()->id == "1");
}

TEST_CASE("a part of a divided message is rejected at once", "[uplink][delivery]") {
    Fixture f;
    OutgoingMessage part = message(0);
    part.is_divided = true;
    f.delivery.add(part);
    f.delivery.connected();
    f.send_all();
    f.delivery.refused(0, Refusal::permanent, {f.now});
    CHECK(f.delivery.rejected().size() == 1);
}

TEST_CASE("a message that is too large is rejected at once", "[uplink][delivery]") {
    Fixture f;
    f.add(0, 1);
    f.delivery.connected();
    f.send_all();
    f.delivery.refused(0, Refusal::too_large, {f.now});
    CHECK(f.delivery.rejected().size() == 1);
}

TEST_CASE("nothing is sent before the time that the back end requests, up to a limit", "[uplink][delivery]") {
    Fixture f;
    f.add(0, 2);
    f.delivery.connected();
    f.send_all();
    f.delivery.refused(0, Refusal::transient, {f.now, seconds(7)});
    f.delivery.refused(1, Refusal::transient, {f.now, seconds(7)});
    CHECK(f.delivery.due() == f.now + seconds(7));
    f.now += milliseconds(6'999);
    CHECK(f.send_all().empty());
    f.now += milliseconds(1);
    CHECK(f.send_all() == Ids{"0", "1"});
    f.delivery.refused(0, Refusal::transient, {f.now, std::chrono::hours(24)});
    f.delivery.acknowledged(1, false);
    CHECK(f.delivery.due() == f.now + seconds(300));
}

TEST_CASE("a back end that responds in order has the whole time for each message", "[uplink][delivery]") {
    Fixture f;
    const bool responds_in_order = GENERATE(false, true);
    f.delivery = Delivery({.responds_in_order = responds_in_order}, 0);
    f.add(0, 2);
    f.delivery.connected();
    f.send_all();
    f.now += seconds(8);
    f.delivery.acknowledged(0, false);
    f.delivery.responded(f.now);
    f.now += seconds(8);
    CHECK(f.delivery.is_overdue(f.now) == !responds_in_order);
    CHECK(f.delivery.due() == f.now + (responds_in_order ? seconds(2) : seconds(-6)));
}

TEST_CASE("the time that a back end requests also applies after the end of the connection", "[uplink][delivery]") {
    Fixture f;
    f.add(0, 1);
    f.delivery.connected();
    f.send_all();
    f.delivery.refused(0, Refusal::transient, {f.now, seconds(60)});
    f.delivery.disconnected(f.now);
    CHECK(f.delivery.due() == f.now + seconds(60));
}

TEST_CASE("messages that are returned to the log are read and sent again", "[uplink][delivery]") {
    Fixture f;
    f.add(0, 4);
    f.delivery.connected();
    f.send_all();
    f.delivery.acknowledged(0, false);
    f.delivery.acknowledged(2, false);
    f.delivery.return_all();
    CHECK(f.delivery.settled() == 1);
    CHECK(f.delivery.ledger().returned == 30);
    CHECK(f.delivery.ledger().balanced());
    f.delivery.acknowledged(1, false);  // too late
    f.add(1, 4);
    CHECK(f.send_all() == Ids{"1", "2", "3"});
    CHECK(f.delivery.ledger().acknowledged == 10);
    CHECK(f.delivery.ledger().balanced());
    f.delivery.move_to(0);
    CHECK(f.delivery.settled() == 0);
    CHECK(f.delivery.ledger().balanced());
}

TEST_CASE("the window is limited in messages and bytes, but one message always fits", "[uplink][delivery]") {
    Delivery delivery({.messages_max = 3, .bytes_max = 100}, 0);
    OutgoingMessage large = message(0);
    large.payload.assign(1'000, 'x');
    CHECK(delivery.has_capacity());
    delivery.add(large);
    CHECK_FALSE(delivery.has_capacity());
    Delivery many({.messages_max = 3, .bytes_max = 100}, 0);
    for (store::Position i = 0; i < 3; ++i) {
        CHECK(many.has_capacity());
        many.add(message(i));
    }
    CHECK_FALSE(many.has_capacity());
}

namespace {

/// A back end that stores, refuses and forgets at random, and a process that restarts at random.
class Model {
  public:
    explicit Model(std::uint64_t seed) : random_(seed) {}

    void run() {
        for (int step = 0; step < 400; ++step) {
            take_step(below(100));
            check();
        }
        finish();
    }

  private:
    static constexpr store::Position messages = 60;
    struct InFlight {
        std::uint64_t number;
        std::string id;
    };

    std::uint64_t below(std::uint64_t limit) {
        return std::uniform_int_distribution<std::uint64_t>(0, limit - 1)(random_);
    }

    void take_step(std::uint64_t kind) {
        now_ += milliseconds(below(300));
        if (kind < 30 && delivery_.has_capacity() && read_ < messages) {
            delivery_.add(message(read_++));
        } else if (kind < 55) {
            send();
        } else if (kind < 90) {
            respond(below(10));
        } else if (kind < 94) {
            disconnect();
        } else if (kind < 98) {
            connect();
        } else if (kind == 98) {
            restart();
        } else if (delivery_.is_overdue(now_)) {
            disconnect();
        }
    }

    void connect() {
        if (delivery_.may_connect(now_)) {
            delivery_.connected();
        }
    }

    void disconnect() {
        delivery_.disconnected(now_);
        in_flight_.clear();
    }

    void send() {
        if (const OutgoingMessage* const next = delivery_.next(now_)) {
            const std::string id = next->id;
            in_flight_.push_back({delivery_.sent(now_), id});
        }
    }

    /// The back end processes a message in flight, or answers an old one again.
    void respond(std::uint64_t kind) {
        if (in_flight_.empty()) {
            return;
        }
        const auto index = static_cast<std::ptrdiff_t>(below(in_flight_.size()));
        const InFlight each = in_flight_[static_cast<std::size_t>(index)];
        if (kind == 0) {  // refused
            delivery_.refused(each.number, Refusal::transient, {now_});
        } else {
            stored_.insert(each.id);
            if (kind == 1) {  // the acknowledgment is lost
                disconnect();
                return;
            }
            delivery_.acknowledged(each.number, false);
        }
        if (kind != 2) {  // otherwise, there will be another response
            in_flight_.erase(in_flight_.begin() + index);
        }
    }

    void restart() {
        saved_ = delivery_.settled();
        delivery_ = Delivery({.messages_max = 8}, saved_);
        read_ = saved_;
        in_flight_.clear();
    }

    /// Nothing is settled that the back end does not have, and no sample is unaccounted for.
    void check() {
        for (store::Position i = 0; i < delivery_.settled(); ++i) {
            REQUIRE(stored_.contains(std::to_string(i)));
        }
        REQUIRE(delivery_.ledger().balanced());
    }

    /// Without further faults, everything is delivered.
    void finish() {
        for (int step = 0; step < 10'000 && delivery_.settled() < messages; ++step) {
            now_ += seconds(1);
            connect();
            if (delivery_.is_overdue(now_)) {
                disconnect();
            }
            if (delivery_.has_capacity() && read_ < messages) {
                delivery_.add(message(read_++));
            }
            send();
            respond(9);
        }
        CHECK(delivery_.settled() == messages);
        CHECK(delivery_.is_empty());
        check();
    }

    std::mt19937_64 random_;
    MonoTime now_{seconds(1)};
    store::Position saved_ = 0;
    Delivery delivery_{{.messages_max = 8}, 0};
    store::Position read_ = 0;
    std::vector<InFlight> in_flight_;
    std::set<std::string> stored_;
};

}  // namespace

TEST_CASE("whatever happens, nothing is settled that is not stored, and everything is stored in the end",
          "[uplink][delivery]") {
    for (std::uint64_t seed = 0; seed < test::rounds(2'000U); ++seed) {
        CAPTURE(seed);
        Model(seed).run();
    }
}

TEST_CASE("a position before the settled one has no effect", "[uplink][delivery]") {
    Delivery delivery({}, 100);
    delivery.skip_to(50);
    CHECK(delivery.settled() == 100);
    delivery.skip_to(120);
    CHECK(delivery.settled() == 120);
}

}  // namespace telegate::uplink
