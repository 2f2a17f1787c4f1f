#include "session/write_cursor.hpp"

#include "core/session/offered.hpp"
#include "session/outbox.hpp"
#include "support/catch.hpp"
#include "support/zmtp_text.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

using namespace telegate;
using telegate::test::frame;
using telegate::test::offered;

namespace {

constexpr std::size_t cursor_segment_bytes = 256;

void write(std::byte* out, const std::string& wire) {
    std::memcpy(out, wire.data(), wire.size());
}

/// A log with readers that share its cursor.
struct Shared {
    explicit Shared(std::size_t count) : log(pool) {
        for (std::size_t i = 0; i < count; ++i) {
            owned.push_back(std::make_unique<Outbox>(pool));
            owned.back()->share(cursor);
            all.push_back(owned.back().get());
        }
    }
    /// Adds one message to each of `readers`, one by one.
    void add_to_each(const std::string& wire, const std::vector<Outbox*>& readers) {
        cursor.settle();
        write(log.prepare(wire.size()), wire);
        const Slice slice = log.commit(wire.size());
        for (Outbox* outbox : readers) {
            outbox->add(slice);
        }
    }
    void add(const std::string& wire) {
        write(cursor.next(), wire);
        cursor.add(wire.size());
    }

    SegmentPool pool{cursor_segment_bytes};
    WriteCursor cursor;
    SegmentLog log;
    std::vector<std::unique_ptr<Outbox>> owned;
    std::vector<Outbox*> all;
};

/// Publishes the same messages twice: by a cursor if possible, and to each outbox one by one.
class Twins {
  public:
    Twins(std::size_t count, std::uint32_t seed) : shared_(count), plain_(count), random_(seed) {}

    void send() {
        const std::string wire = frame(0, std::string(below(60), static_cast<char>('a' + below(26))));
        if (readers_.empty() || below(5) == 0) {
            choose_readers();
        }
        if (is_same_ && shared_.cursor.has_room(wire.size())) {
            shared_.add(wire);
        } else {
            shared_.add_to_each(wire, of(shared_));
            shared_.cursor.open(shared_.log, added_to_ = of(shared_), below(2 * cursor_segment_bytes));
            is_same_ = true;
        }
        plain_.add_to_each(wire, of(plain_));
    }

    /// Calls `change` for one outbox of each side.
    template <class Change>
    void change(const Change& change) {
        const std::size_t place = below(shared_.all.size());
        change(*shared_.all[place]);
        change(*plain_.all[place]);
    }
    void consume_some() {
        const std::size_t share = below(4);
        change([&](Outbox& outbox) { outbox.consume(outbox.backlog().bytes() * share / 3); });
    }
    void drop_some() {
        const std::size_t ahead = below(3 * cursor_segment_bytes);
        shared_.cursor.settle();
        const std::uint64_t end = plain_.log.end();
        CHECK(shared_.log.end() == end);
        change([&](Outbox& outbox) { outbox.drop_before(end - std::min<std::uint64_t>(end, ahead)); });
    }
    void lose_all_seldom() {
        if (below(8) == 0) {
            change([](Outbox& outbox) { outbox.drop_all(); });
        }
    }
    void check_one() {
        const std::size_t place = below(shared_.all.size());
        check(*shared_.all[place], *plain_.all[place]);
    }
    void check_all() {
        for (std::size_t place = 0; place < shared_.all.size(); ++place) {
            check(*shared_.all[place], *plain_.all[place]);
        }
    }
    [[nodiscard]] std::size_t below(std::size_t end) { return random_() % end; }

  private:
    static void check(const Outbox& shared, const Outbox& plain) {
        CHECK(shared.matched() == plain.matched());
        CHECK(shared.sent() == plain.sent());
        CHECK(shared.dropped() == plain.dropped());
        CHECK(shared.backlog().messages() == plain.backlog().messages());
        CHECK(shared.backlog().bytes() == plain.backlog().bytes());
        CHECK(shared.backlog().runs_left() == plain.backlog().runs_left());
        CHECK(offered(shared) == offered(plain));
    }
    void choose_readers() {
        readers_.clear();
        for (std::size_t place = 0; place < shared_.all.size(); ++place) {
            if (below(2) == 0) {
                readers_.push_back(place);
            }
        }
        is_same_ = false;
    }
    std::vector<Outbox*> of(const Shared& shared) const {
        std::vector<Outbox*> result;
        for (const std::size_t place : readers_) {
            result.push_back(shared.all[place]);
        }
        return result;
    }

    Shared shared_;
    Shared plain_;
    std::mt19937 random_;
    std::vector<std::size_t> readers_;
    std::vector<Outbox*> added_to_;  // to the cursor
    bool is_same_ = false;           // whether the readers are those of the cursor
};

}  // namespace

TEST_CASE("a closed cursor accepts nothing", "[core][session][cursor]") {
    Shared shared(1);
    CHECK_FALSE(shared.cursor.is_open());
    CHECK_FALSE(shared.cursor.has_room(1));
    CHECK_FALSE(shared.cursor.fits(1));
    shared.add_to_each("first", shared.all);
    shared.cursor.open(shared.log, shared.all, 100);
    CHECK(shared.cursor.has_room(1));
    shared.cursor.settle();
    CHECK_FALSE(shared.cursor.has_room(1));
    CHECK_FALSE(shared.cursor.fits(1));
}

TEST_CASE("a cursor accepts as much as it was opened for, and no more than its segment holds",
          "[core][session][cursor]") {
    Shared shared(1);
    shared.add_to_each(std::string(56, 'x'), shared.all);
    const auto bytes_max = GENERATE(std::size_t{0}, std::size_t{10}, std::size_t{200}, std::size_t{1'000});
    shared.cursor.open(shared.log, shared.all, bytes_max);
    const std::size_t room = std::min<std::size_t>(bytes_max, cursor_segment_bytes - 56);
    CHECK(shared.cursor.has_room(room));
    CHECK_FALSE(shared.cursor.has_room(room + 1));
    CHECK(shared.cursor.fits(cursor_segment_bytes - 56));
    CHECK_FALSE(shared.cursor.fits(cursor_segment_bytes - 55));
}

TEST_CASE("a cursor that was given more than it was opened for accepts nothing", "[core][session][cursor]") {
    Shared shared(1);
    shared.add_to_each(frame(0, "first"), shared.all);
    shared.cursor.open(shared.log, shared.all, 10);
    CHECK(shared.cursor.fits(frame(0, "a longer one").size()));
    shared.add(frame(0, "a longer one"));
    CHECK_FALSE(shared.cursor.has_room(1));
    CHECK(shared.cursor.fits(1));
}

TEST_CASE("messages with samples in a cursor are listed in their segment", "[core][session][cursor]") {
    Shared shared(1);
    shared.add_to_each(std::string(16, 'x'), shared.all);
    shared.cursor.open(shared.log, shared.all, cursor_segment_bytes);
    for (std::size_t seq = 1; seq <= 4; ++seq) {
        const std::size_t room = cursor_segment_bytes - 16 - (seq - 1) * (30 + sizeof(LoggedSamples));
        CHECK(shared.cursor.fits(room));
        CHECK_FALSE(shared.cursor.fits(room + 1));
        write(shared.cursor.next(), std::string(30, 'y'));
        shared.cursor.add(30, {ChannelId{3}, seq, seq});
        CHECK_FALSE(shared.cursor.has_room(1));
    }
    shared.cursor.settle();
    Segment* const segment = shared.log.segment();
    REQUIRE(samples_of({segment, 0, segment->used}).size() == 4);
    REQUIRE(samples_of({segment, 16, 46}).size() == 1);
    CHECK(samples_of({segment, 16, 46}).front().first_seq == 1);
    shared.cursor.open(shared.log, shared.all, cursor_segment_bytes);
    CHECK_FALSE(shared.cursor.has_room(cursor_segment_bytes - 16 - 4 * (30 + sizeof(LoggedSamples)) + 1));
}

TEST_CASE("every read of an outbox includes the cursor", "[core][session][cursor]") {
    Shared shared(3);
    shared.add_to_each(frame(0, "first"), shared.all);
    shared.cursor.open(shared.log, shared.all, cursor_segment_bytes);
    shared.add(frame(0, "second"));
    shared.add(frame(0, "third"));
    CHECK(shared.cursor.messages() == 2);
    CHECK(shared.cursor.open_bytes() == frame(0, "second").size() + frame(0, "third").size());
    const Outbox& outbox = *shared.all[1];
    SECTION("its count") {
        CHECK(outbox.matched() == 3);
    }
    SECTION("its backlog") {
        CHECK(outbox.backlog().messages() == 3);
    }
    SECTION("its bytes") {
        CHECK(offered(outbox) == frame(0, "first") + frame(0, "second") + frame(0, "third"));
    }
    CHECK_FALSE(shared.cursor.is_open());
    CHECK(shared.cursor.open_bytes() == 0);
    CHECK(shared.cursor.messages() == 2);
    CHECK(shared.cursor.bytes() == frame(0, "second").size() + frame(0, "third").size());
    for (const Outbox* reader : shared.all) {
        CHECK(reader->matched() == 3);
        CHECK(reader->backlog().runs_left() == outbox.backlog().runs_left());
    }
}

TEST_CASE("every change of an outbox follows the contents of the cursor", "[core][session][cursor]") {
    Shared shared(2);
    shared.add_to_each(frame(0, "first"), shared.all);
    shared.cursor.open(shared.log, shared.all, cursor_segment_bytes);
    shared.add(frame(0, "second"));
    Outbox& outbox = *shared.all[0];
    SECTION("sending") {
        CHECK(outbox.consume(frame(0, "first").size() + frame(0, "second").size()) == 2);
        CHECK(outbox.sent() == 2);
    }
    SECTION("dropping everything") {
        outbox.drop_all();
        CHECK(outbox.dropped() == 2);
    }
    SECTION("dropping old messages") {
        outbox.drop_before(shared.log.end());
        CHECK(outbox.dropped() == 2);
    }
    CHECK(outbox.matched() == 2);
    CHECK(outbox.backlog().empty());
    CHECK(shared.all[1]->backlog().messages() == 2);
}

TEST_CASE("an outbox continues in its own cursor", "[core][session][cursor]") {
    SegmentPool pool(cursor_segment_bytes);
    Outbox outbox(pool);
    const std::array<Bytes, 1> one = {as_bytes("one")};
    CHECK_FALSE(outbox.append_at_cursor(one));
    outbox.append(one);
    CHECK_FALSE(outbox.append_at_cursor(one));
    outbox.open_cursor(100);
    const std::array<std::string_view, 3> three = {"", "b", std::string_view()};
    CHECK(outbox.append_at_cursor(one));
    CHECK(outbox.append_at_cursor(three));
    CHECK(outbox.append_at_cursor(std::array<std::string_view, 1>{""}));
    CHECK_FALSE(outbox.append_at_cursor(std::array<Bytes, 0>{}));
    CHECK(offered(outbox) ==
          frame(0, "one") + frame(0, "one") + frame(1, "") + frame(1, "b") + frame(0, "") + frame(0, ""));
    CHECK(outbox.matched() == 4);
    CHECK_FALSE(outbox.append_at_cursor(one));
}

TEST_CASE("frames of every size are the same in a cursor", "[core][session][cursor]") {
    SegmentPool pool(64 * 1024);
    Outbox outbox(pool);
    const auto bytes = GENERATE(std::size_t{0}, std::size_t{1}, std::size_t{255}, std::size_t{256}, std::size_t{300});
    const std::string body(bytes, 'b');
    outbox.append(std::array<Bytes, 1>{as_bytes("first")});
    outbox.open_cursor(1024);
    CHECK(outbox.append_at_cursor(std::array<std::string_view, 1>{body}));
    CHECK(outbox.append_at_cursor(std::array<std::string_view, 2>{"id", body}));
    CHECK(outbox.cursor_bytes() == frame(0, body).size() + frame(1, "id").size() + frame(0, body).size());
    CHECK(offered(outbox) == frame(0, "first") + frame(0, body) + frame(1, "id") + frame(0, body));
}

TEST_CASE("by a cursor or one by one, readers get the same messages and the same counts", "[core][session][cursor]") {
    const auto seed = GENERATE(range(0U, 40U));
    CAPTURE(seed);
    Twins twins(1 + seed % 5, seed);
    for (int step = 0; step < 600; ++step) {
        switch (twins.below(12)) {
            case 0: twins.consume_some(); break;
            case 1: twins.drop_some(); break;
            case 2: twins.check_one(); break;
            case 3: twins.lose_all_seldom(); break;
            default: twins.send();
        }
    }
    twins.check_all();
}
