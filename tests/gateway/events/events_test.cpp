#include "events/events.hpp"

#include "support/catch.hpp"
#include "support/manual_clock.hpp"

#include <atomic>
#include <string>
#include <thread>
#include <vector>

using namespace telegate;
using telegate::test::ManualClock;

namespace {

struct EventHarness {
    void add(const std::string& device, EventKind kind, const std::string& text = "", const std::string& channel = "") {
        events.add({clock.utc_now_ns(), device, channel, kind, text});
    }
    /// Adds events beyond the limit. Returns the number of suppressed ones.
    std::uint64_t exceed_limit(const std::string& device) {
        const auto burst = static_cast<int>(EventLog::per_source.burst);
        for (int i = 0; i < burst; ++i) {
            add(device, i % 2 == 0 ? EventKind::device_failed : EventKind::device_recovered);
        }
        add(device, EventKind::device_failed, "first held");
        add(device, EventKind::device_recovered, "last held");
        return 2;
    }
    [[nodiscard]] EventEntry newest() const { return events.after(events.last_number() - 1).at(0); }

    ManualClock clock;
    std::atomic<int> news = 0;
    EventLog events{clock, [this] {
                        ++news;
                    }};
};

}  // namespace

TEST_CASE("events are read back in order, with numbers that count from 1", "[gateway][events]") {
    EventHarness h;
    h.add("plc", EventKind::device_failed, "reason=\"timeout\"");
    h.add("plc", EventKind::device_recovered, "after_s=62");
    const std::vector<EventEntry> all = h.events.after(0);
    REQUIRE(all.size() == 2);
    CHECK(all[0].number == 1);
    CHECK(all[0].event->device == "plc");
    CHECK(all[0].event->text == "reason=\"timeout\"");
    CHECK(all[1].event->kind == EventKind::device_recovered);
    CHECK(h.events.after(1).size() == 1);
    CHECK(h.events.after(2).empty());
    CHECK(h.news == 2);
}

TEST_CASE("the ring keeps the last events and counts those that it overwrote", "[gateway][events]") {
    EventHarness h;
    constexpr std::size_t more = 7;
    for (std::size_t i = 0; i < EventLog::events_max + more; ++i) {
        h.add("", EventKind::gateway_started, std::to_string(i));
    }
    CHECK(h.events.after(0).size() == EventLog::events_max);
    CHECK(h.events.after(0).front().number == more + 1);
    CHECK(h.events.counts().overwritten == more);
    CHECK(h.events.counts().added == EventLog::events_max + more);
}

TEST_CASE("when a device exceeds its limit its events are suppressed, but not those of another device",
          "[gateway][events]") {
    EventHarness h;
    const std::uint64_t held = h.exceed_limit("plc");
    CHECK(h.events.counts().suppressed == held);
    h.add("gps", EventKind::device_failed);
    CHECK(h.newest().event->device == "gps");
    CHECK(h.newest().suppressed == 0);
}

TEST_CASE("the next event of a device has the number of suppressed ones before it", "[gateway][events]") {
    EventHarness h;
    const std::uint64_t held = h.exceed_limit("plc");
    h.clock.advance(std::chrono::minutes(1));
    h.add("plc", EventKind::device_failed, "new");
    CHECK(h.newest().event->text == "new");
    CHECK(h.newest().suppressed == held);
    CHECK(h.events.is_settled());
}

TEST_CASE("the last suppressed event is added once the limit permits", "[gateway][events]") {
    EventHarness h;
    const std::uint64_t held = h.exceed_limit("plc");
    CHECK_FALSE(h.events.is_settled());
    h.events.settle();
    CHECK_FALSE(h.events.is_settled());
    h.clock.advance(EventLog::settle_interval);
    h.events.settle();
    CHECK(h.events.is_settled());
    CHECK(h.newest().event->text == "last held");
    CHECK(h.newest().suppressed == held - 1);
    CHECK(h.events.counts().suppressed == held - 1);
}

TEST_CASE("each channel of a device has its own limit, and actions of people are never suppressed",
          "[gateway][events]") {
    EventHarness h;
    (void)h.exceed_limit("plc");
    h.add("plc", EventKind::alarm_raised, "", "temp");
    CHECK(h.newest().event->channel == "temp");
    h.add("plc", EventKind::alarm_acknowledged);
    CHECK(h.newest().event->kind == EventKind::alarm_acknowledged);
}

TEST_CASE("sources beyond the limit share one limit", "[gateway][events]") {
    EventHarness h;
    for (std::size_t i = 0; i < 2 * EventLog::sources_max; ++i) {
        h.add("device" + std::to_string(i), EventKind::device_failed);
    }
    const std::size_t own = EventLog::sources_max - 1;
    CHECK(h.events.counts().suppressed == 2 * EventLog::sources_max - own - std::size_t{10});
    h.clock.advance(std::chrono::minutes(1));
    h.add("fresh", EventKind::device_failed);
    CHECK(h.newest().event->device == "fresh");
}

TEST_CASE("events of an earlier run come first and numbers continue", "[gateway][events]") {
    EventHarness before;
    before.add("plc", EventKind::device_failed);
    before.add("", EventKind::gateway_stopped);
    EventHarness h;
    h.events.restore(before.events.after(0));
    h.add("", EventKind::gateway_started);
    CHECK(h.events.after(0).size() == 3);
    CHECK(h.newest().number == 3);
    CHECK(h.events.counts().added == 1);
}

TEST_CASE("after a run that was killed no number is used again", "[gateway][events]") {
    EventHarness killed;
    killed.add("plc", EventKind::device_failed);
    const std::vector<EventEntry> saved = killed.events.after(0);
    killed.add("plc", EventKind::device_recovered);  // a client has seen it, but it is not in the file
    EventHarness h;
    h.events.restore(saved);
    h.add("", EventKind::gateway_started);
    CHECK(h.newest().number == 1 + EventLog::numbers_skipped + 1);
    CHECK(h.events.after(killed.events.last_number()).size() == 1);
}

TEST_CASE("a long text is truncated at a character boundary", "[gateway][events]") {
    EventHarness h;
    h.add("plc", EventKind::device_failed, std::string(EventLog::text_bytes_max - 1, 'x') + "\xC3\xA4");
    CHECK(h.newest().event->text == std::string(EventLog::text_bytes_max - 1, 'x'));
}

TEST_CASE("events from several threads are all in the ring or counted", "[gateway][events]") {
    EventHarness h;
    constexpr int each = 200;
    std::vector<std::thread> threads;
    for (const char* const device : {"a", "b", "c"}) {
        threads.emplace_back([&h, device] {
            for (int i = 0; i < each; ++i) {
                h.events.add({0, device, "", EventKind::device_failed, ""});
                (void)h.events.after(0);
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    const EventCounts counts = h.events.counts();
    CHECK(counts.added + counts.suppressed == 3 * each);
    CHECK(h.events.after(0).size() == counts.added);
}

TEST_CASE("every kind of event is found by its name", "[gateway][events]") {
    for (const EventKindRow& row : event_kinds) {
        CHECK(to_event_kind(row.name) == row.kind);
        CHECK(to_string(row.kind) == row.name);
    }
    CHECK_FALSE(to_event_kind("device"));
}
