#include "store/log_fixture.hpp"

#include <cstring>
#include <limits>
#include <memory>
#include <system_error>

namespace telegate::store {

namespace {

/// Two epochs, of which the first ends without a stop, in several segments of which the oldest are removed.
void live(LogFixture& f) {
    for (int epoch = 0; epoch < 2; ++epoch) {
        f.limits.bytes_max = 12'000;
        f.start();
        for (int i = 0; i < 6; ++i) {
            f.add(0, 60);
            f.mark({{0, f.seqs[0]}, {1, f.seqs[1]}});
            f.log->write();
            f.add_gap(1, 2, GapReason::queue_overflow);
            f.add(1, 30);
            f.sync();
        }
    }
    f.log->close();
    f.model.record_sync(f.epoch);
}

}  // namespace

TEST_CASE("a power failure at any call of the disk loses nothing that was synced", "[store][crash]") {
    bool is_over = false;
    std::uint64_t call = 0;
    while (!is_over) {
        ++call;
        CAPTURE(call);
        LogFixture f;
        f.disk.crash_at(call);
        try {
            live(f);
            is_over = true;
        } catch (const PowerFailure&) {
        }
        f.log.reset();
        f.disk.crash();
        CHECK(f.check() == "");
        f.start();
        f.sync();
        CHECK(f.check() == "");
    }
    CHECK(call > 100);
}

TEST_CASE("a second gateway cannot open the log", "[store][log]") {
    LogFixture f;
    f.sync();
    CHECK_THROWS_AS(SampleLog(SampleLog::Parts{f.disk, f.channels, f.clock}, SampleLog::Options{"/log", 99}),
                    std::system_error);
}

TEST_CASE("samples known from a crashed epoch become gaps", "[store][log]") {
    LogFixture f;
    f.add(0, 10);
    f.sync();
    f.expected(0).last_seq = 25;
    f.expected(2).last_seq = 7;
    f.start([](std::int64_t epoch) {
        CHECK(epoch == 1);
        return LastSeqs{{"device/a", 25}, {"device/c", 7}, {"device/b", 0}};
    });
    f.sync();
    CHECK(f.check() == "");
    CHECK(f.gaps() ==
          std::vector<LogGap>{{ChannelId{0}, 11, 25, GapReason::crash}, {ChannelId{1}, 1, 7, GapReason::crash}});
}

TEST_CASE("a last segment of which only the head is left does not hide what the one before it has", "[store][log]") {
    LogFixture f;
    f.add(1, 3);
    while (f.log->status().segments < 2) {
        f.add(0, 100);
        f.sync();
    }
    const std::uint64_t logged = f.seqs[0];
    const std::vector<SegmentRef> segments = list_segments(f.disk, "/log");
    const auto left = SegmentReader::open(f.disk, "/log/" + segments[0].name)->index().channels[0].last_seq;
    f.disk.content("/log/" + segments.back().name).resize(SegmentHead::bytes);
    f.start([&](std::int64_t) { return LastSeqs{{"device/a", logged}, {"device/b", 3}, {"device/c", 2}}; });
    CHECK(f.gaps() == std::vector<LogGap>{{ChannelId{0}, left + 1, logged, GapReason::crash},
                                          {ChannelId{2}, 1, 2, GapReason::crash}});
}

TEST_CASE("a start after a kill names what the process had published and not logged", "[store][log]") {
    LogFixture f;
    f.add(0, 10);
    f.add(1, 4);
    f.sync();
    f.mark({{0, 13}, {2, 5}});
    f.mark({{0, 15}, {1, 4}});
    f.expected(0).last_seq = 15;
    f.expected(2).last_seq = 5;
    f.start();
    CHECK(f.log->recovery().crash_samples == 10);
    CHECK(f.log->take_last_seqs() == LastSeqs{{"device/a", 15}, {"device/b", 4}, {"device/c", 5}});
    CHECK(f.gaps() ==
          std::vector<LogGap>{{ChannelId{0}, 11, 15, GapReason::crash}, {ChannelId{2}, 1, 5, GapReason::crash}});
    CHECK(f.check() == "");
}

TEST_CASE("a mark of samples that are in the log, of another run or of another log says nothing", "[store][log]") {
    LogFixture f;
    f.mark({{0, 15}, {1, 3}});
    f.add(0, 15);
    f.add(1, 3);
    f.sync();
    f.start();
    CHECK(f.log->recovery().crash_samples == 0);
    f.start();
    CHECK(f.log->recovery().crash_samples == 0);
    f.mark({{0, 9}});
    SegmentHead head;
    head.epoch_ms = f.epoch;
    PublishedMark mark(f.disk, "/log");
    mark.begin();
    mark.add({ChannelId{0}, "device", "a", "", 99});
    mark.commit(head);
    f.start();
    CHECK(f.log->recovery().crash_samples == 0);
}

TEST_CASE("marks keep samples that wait for a disk that cannot be written", "[store][log]") {
    LogFixture f;
    f.limits.when_full = WhenFull::block;  // so that nothing is removed
    f.start();
    f.add(0, 10);
    f.sync();
    f.mark({{0, 10}, {1, 0}, {2, 0}});
    f.mark({{0, 10}, {1, 0}, {2, 0}});
    f.disk.set_capacity(f.disk.used_bytes());
    f.add(0, 5'000);
    f.add(1, 3);
    CHECK_THROWS_AS(f.log->sync(), std::system_error);
    CHECK_FALSE(f.log->is_written());
    f.mark({{0, f.seqs[0]}, {1, f.seqs[1]}});
    f.mark({{0, f.seqs[0] + 1}, {1, f.seqs[1]}});
    f.start();
    CHECK(f.gaps() ==
          std::vector<LogGap>{{ChannelId{0}, 11, 5'011, GapReason::crash}, {ChannelId{1}, 1, 3, GapReason::crash}});
}

TEST_CASE("a failed sync does not remove samples from the marks", "[store][log]") {
    bool has_failed = true;
    for (std::uint64_t call = 1; has_failed; ++call) {
        CAPTURE(call);
        LogFixture f;
        f.add(0, 10);
        f.sync();
        f.mark({{0, 10}, {1, 0}, {2, 0}});
        f.mark({{0, 10}, {1, 0}, {2, 0}});
        f.add(0, 5);
        f.disk.fail_at(call, std::errc::io_error);
        try {
            f.log->sync();
            has_failed = false;
        } catch (const std::system_error&) {
            f.disk.clear_faults();
            f.mark({{0, 15}});
            CHECK(PublishedMark::read(f.disk, "/log", LogId{std::byte{9}}, f.epoch).last_seqs ==
                  LastSeqs{{"device/a", 15}});
        }
    }
}

TEST_CASE("a gateway that stops while its log cannot be written does not look like a crash", "[store][log]") {
    LogFixture f;
    f.add(0, 10);
    f.sync();
    f.mark({{0, 10}, {1, 0}, {2, 0}});
    f.add(0, 5);
    f.log->mark([](ChannelId channel) { return std::uint64_t{to_index(channel) == 0 ? 15U : 0U}; }, true);
    f.start();
    CHECK(f.gaps() == std::vector<LogGap>{{ChannelId{0}, 11, 15, GapReason::log_slow}});
}

TEST_CASE("a mark that is changed in any byte says nothing wrong", "[store][log]") {
    LogFixture f;
    f.add(0, 10);
    f.sync();
    f.mark({{0, 13}, {1, 6}});
    const std::vector<std::byte> mark = f.disk.content("/log/mark0");
    for (std::size_t at = 0; at < mark.size(); ++at) {
        f.disk.content("/log/mark0")[at] ^= std::byte{0x41};
        CAPTURE(at);
        const LastSeqs last_seqs = PublishedMark::read(f.disk, "/log", LogId{std::byte{9}}, f.epoch).last_seqs;
        CHECK((last_seqs.empty() || last_seqs == LastSeqs{{"device/a", 13}, {"device/b", 6}}));
        f.disk.content("/log/mark0") = mark;
    }
}

TEST_CASE("a log that is closed while the disk is full names what it could not write", "[store][log]") {
    LogFixture f;
    f.limits.when_full = GENERATE(WhenFull::drop_newest, WhenFull::block);
    f.start();
    f.add(0, 10);
    f.sync();
    f.disk.set_capacity(f.disk.used_bytes());
    f.add(0, 5'000);
    f.add_gap(1, 3, GapReason::queue_overflow);
    f.add(1, 5'000);
    CHECK_THROWS_AS(f.log->sync(), std::system_error);
    f.log->close();
    f.model.record_sync(f.epoch);
    CHECK(f.check() == "");
    f.start();
    CHECK(f.log->recovery().last_epoch_ended);
    CHECK(f.gaps() == std::vector<LogGap>{{ChannelId{0}, 11, 5'010, GapReason::log_full},
                                          {ChannelId{1}, 1, 5'003, GapReason::log_full}});
}

TEST_CASE("an epoch that begins on a full disk and is killed is named by the next start", "[store][log]") {
    LogFixture f;
    f.limits.when_full = GENERATE(WhenFull::drop_newest, WhenFull::block);
    f.start();
    f.add(0, 10);
    f.sync();
    f.mark({{0, 70'000}});
    f.mark({{0, 70'001}});
    f.expected(0).last_seq = 70'001;
    f.disk.set_capacity(f.disk.used_bytes());
    f.start();
    CHECK(f.log->recovery().crash_samples == 69'991);
    f.add(1, 5'000);
    CHECK_THROWS_AS(f.log->sync(), std::system_error);
    f.mark({{0, 0}, {1, 5'000}, {2, 0}});
    f.mark({{0, 0}, {1, 5'004}, {2, 2}});
    f.expected(1).last_seq = 5'004;
    f.expected(2).last_seq = 2;
    f.start();
    CHECK(f.log->recovery().last_epoch_ms == 3);
    CHECK(f.log->recovery().crash_samples == 5'006);
    CHECK(f.check() == "");
    CHECK(f.gaps() == std::vector<LogGap>{{ChannelId{0}, 11, 70'001, GapReason::crash},
                                          {ChannelId{1}, 1, 5'004, GapReason::crash},
                                          {ChannelId{2}, 1, 2, GapReason::crash}});
}

TEST_CASE("a log on a disk with space for a single segment replaces it", "[store][log]") {
    LogFixture f;
    f.add(0, 100);
    f.sync();
    f.segment_bytes = SampleLog::segment_bytes;
    f.start();
    f.add(0, 1);
    f.sync();
    f.disk.set_capacity(f.disk.used_bytes() + 20'000);
    for (int i = 0; i < 50; ++i) {
        f.add(0, 200);
        f.add(1, 100);
        try {
            f.sync();
        } catch (const std::system_error&) {  // the next attempt replaces the segment
            f.clock.advance(std::chrono::seconds(1));
            f.sync();
        }
    }
    CHECK(f.log->status().segments_removed > 2);
    CHECK(f.disk.exists("/log/reserve"));
    f.log->close();
    f.model.record_sync(f.epoch);
    CHECK(f.check() == "");
}

TEST_CASE("a log that is closed while the disk has space for a single segment replaces it", "[store][log]") {
    LogFixture f;
    f.segment_bytes = SampleLog::segment_bytes;
    f.start();
    f.add(0, 30'000);
    f.sync();
    f.disk.set_capacity(f.disk.used_bytes());
    f.add(0, 25'000);
    f.log->close();
    f.model.record_sync(f.epoch);
    CHECK(f.log->status().segments_removed == 1);
    CHECK(f.log->status().dropped_full == 0);
    CHECK(f.check() == "");
    f.start();
    CHECK(f.log->recovery().last_epoch_ended);
}

TEST_CASE("segments are an eighth of the space on a small disk", "[store][log]") {
    LogFixture f;
    f.segment_bytes = SampleLog::segment_bytes;
    f.disk.set_capacity(1'048'576);
    f.start();
    for (int i = 0; i < 400; ++i) {
        f.add(0, 500);
        f.sync();
    }
    CHECK(f.log->status().segments > 4);
    CHECK(f.log->status().segments_removed > 0);
    f.log->close();
    f.model.record_sync(f.epoch);
    CHECK(f.check() == "");
}

TEST_CASE("a segment that was removed by hand is named", "[store][log]") {
    LogFixture f;
    for (int i = 0; i < 60; ++i) {
        f.add(0, 20);
        f.add(1, 10);
        f.sync();
    }
    const auto segments = list_segments(f.disk, "/log");
    REQUIRE(segments.size() > 4);
    f.disk.drop("/log/" + segments[2].name);
    CHECK(f.model.check(f.disk, "/log", {GapReason::damaged}) == "");
    CHECK(f.gaps().size() == 2);
}

TEST_CASE("every damaged byte of a segment costs no more than a named range", "[store][log]") {
    LogFixture f;
    for (int i = 0; i < 6; ++i) {
        f.add(0, 20);
        f.add(1, 10);
        f.sync();
    }
    f.log->close();
    f.model.record_sync(f.epoch);
    const std::string path = "/log/" + list_segments(f.disk, "/log").front().name;
    const std::vector<std::byte> intact = f.disk.content(path);
    for (std::size_t at = 0; at < intact.size(); ++at) {
        CAPTURE(at);
        f.disk.content(path)[at] ^= std::byte{0x21};
        const std::string wrong = f.model.check(f.disk, "/log", {GapReason::damaged, GapReason::retention});
        if (at >= SegmentHead::bytes) {  // without its header, the only segment leaves no trace
            CHECK(wrong == "");
        }
        f.disk.content(path) = intact;
    }
}

TEST_CASE("after any byte of its last segment was changed, a log opens and names what is gone", "[store][log]") {
    LogFixture f;
    for (int i = 0; i < 3; ++i) {
        f.add(0, 20);
        f.add(1, 10);
        f.sync();
    }
    const std::string name = "/log/" + list_segments(f.disk, "/log").front().name;
    const std::vector<std::byte> intact = f.disk.content(name);
    for (std::size_t at = 0; at < intact.size(); ++at) {
        CAPTURE(at);
        f.log.reset();
        for (const std::string& each : f.disk.list("/log")) {
            f.disk.drop("/log/" + each);
        }
        std::vector<std::byte> damaged = intact;
        damaged[at] ^= std::byte{0x21};
        f.disk.open(name, FileSystem::Mode::create)->write(0, damaged);
        f.epoch = 1;
        f.start([](std::int64_t) { return LastSeqs{{"device/a", 60}, {"device/b", 30}}; });
        f.add(1, 5);
        f.sync();
        REQUIRE(f.model.check(f.disk, "/log", {GapReason::damaged, GapReason::crash, GapReason::retention}) == "");
    }
}

TEST_CASE("an unreadable part of a segment is named, and keeps neither a reader nor a log from continuing",
          "[store][log]") {
    LogFixture f;
    for (int i = 0; i < 60; ++i) {
        f.add(0, 20);
        f.add(1, 10);
        f.sync();
    }
    const auto segments = list_segments(f.disk, "/log");
    REQUIRE(segments.size() > 3);
    const std::string path = "/log/" + segments[GENERATE(std::size_t{1}, std::size_t{2})].name;
    const std::uint64_t bytes = f.disk.content(path).size();
    const std::uint64_t at = GENERATE_COPY(std::uint64_t{0}, bytes / 2, bytes - 8);
    f.disk.make_unreadable(path, at, at + 8);
    CHECK(f.model.check(f.disk, "/log", {GapReason::damaged}) == "");
    f.start();
    CHECK(f.log->recovery().renamed.empty());
    CHECK(f.log->recovery().left.size() == (at == 0 ? 1U : 0U));
    f.add(1, 5);
    f.sync();
    CHECK(f.model.check(f.disk, "/log", {GapReason::damaged}) == "");
    f.disk.make_unreadable(path, 0, 0);
    CHECK(f.check() == "");
}

TEST_CASE("a last segment whose header cannot be read for a while stays intact", "[store][log]") {
    LogFixture f;
    for (int i = 0; i < 60; ++i) {
        f.add(0, 20);
        f.add(1, 10);
        f.sync();
    }
    const Position end = f.log->status().next;
    const std::string path = "/log/" + list_segments(f.disk, "/log").back().name;
    f.disk.make_unreadable(path, 0, SegmentHead::bytes);
    f.start();
    CHECK(f.log->recovery().renamed.empty());
    CHECK(f.log->recovery().next > end);
    f.add(1, 5);
    f.sync();
    f.disk.make_unreadable(path, 0, 0);
    CHECK(f.check() == "");
}

TEST_CASE("an unreadable part of the last segment is not truncated", "[store][log]") {
    LogFixture f;
    for (int i = 0; i < 3; ++i) {
        f.add(0, 20);
        f.sync();
    }
    const std::string path = "/log/" + list_segments(f.disk, "/log").front().name;
    const std::uint64_t bytes = f.disk.content(path).size();
    f.disk.make_unreadable(path, SegmentHead::bytes + 8, bytes);
    f.start();
    CHECK(f.log->recovery().not_sealed == "cannot read all of " + path);
    f.disk.make_unreadable(path, 0, 0);
    f.add(1, 5);
    f.sync();
    CHECK(f.check() == "");
}

TEST_CASE("a crash is named although the disk cannot read the last segment at present", "[store][log]") {
    LogFixture f;
    const std::uint64_t segments = GENERATE(std::uint64_t{1}, std::uint64_t{3});
    do {
        f.add(0, 20);
        f.add(1, 10);
        f.sync();
    } while (f.log->status().segments < segments);
    f.mark({{0, f.seqs[0] + 7}, {1, f.seqs[1] + 2}});
    f.mark({{0, f.seqs[0] + 9}, {1, f.seqs[1] + 2}});
    f.expected(0).last_seq = f.seqs[0] + 9;
    f.expected(1).last_seq = f.seqs[1] + 2;
    const std::vector<LogGap> gaps{{ChannelId{0}, f.seqs[0] + 1, f.seqs[0] + 9, GapReason::crash},
                                   {ChannelId{1}, f.seqs[1] + 1, f.seqs[1] + 2, GapReason::crash}};
    const std::string path = "/log/" + list_segments(f.disk, "/log").back().name;
    const std::uint64_t bytes = f.disk.content(path).size();
    const std::uint64_t at = GENERATE_COPY(std::uint64_t{0}, std::uint64_t{SegmentHead::bytes}, bytes - 8);
    CAPTURE(segments, at);
    f.disk.make_unreadable(path, at, bytes);
    f.start();
    CHECK(f.log->recovery().last_epoch_ms == 1);
    CHECK_FALSE(f.log->recovery().last_epoch_ended);
    f.add(1, 5);
    f.sync();
    CHECK(f.model.check(f.disk, "/log", {GapReason::damaged, GapReason::crash}) == "");
    f.disk.make_unreadable(path, 0, 0);
    f.start();
    f.sync();
    CHECK(f.gaps() == gaps);
}

TEST_CASE("a log opens whatever its files contain", "[store][log]") {
    LogFixture f;
    for (int i = 0; i < 30; ++i) {
        f.add(0, 20);
        f.sync();
    }
    std::mt19937 random(3);
    for (int round = 0; round < 200; ++round) {
        for (const SegmentRef& segment : list_segments(f.disk, "/log")) {
            auto& content = f.disk.content("/log/" + segment.name);
            if (random() % 3 == 0 && !content.empty()) {
                content[random() % content.size()] ^= static_cast<std::byte>(1 + random() % 255);
            }
            if (random() % 11 == 0) {
                content.resize(random() % (content.size() + 1));
            }
        }
        const Position before = f.log->status().next;
        f.start();
        CHECK(f.log->recovery().next >= before - 1);
        f.add(1, 10);
        f.sync();
        LogReader reader(f.disk, "/log");
        LogBatch batch;
        while (reader.next(batch)) {
        }
    }
}

TEST_CASE("a file named after one of the last positions costs no run", "[store][log]") {
    LogFixture f;
    f.add(0, 20);
    f.sync();
    SegmentHead head;
    head.log_id = LogId{std::byte{9}};
    head.epoch_ms = 1;
    head.first_position = GENERATE(Position{position_max}, position_max - 5, position_max - segment_positions_max);
    const std::string path = "/log/" + segment_name(head.first_position);
    const bool is_empty = GENERATE(true, false);
    CAPTURE(path, is_empty);
    {
        ByteBuffer bytes;
        append_segment_head(head, bytes);
        f.disk.open(path, FileSystem::Mode::create)->write(0, std::span(bytes).first(is_empty ? 0 : bytes.size()));
    }
    for (int i = 0; i < 3; ++i) {
        f.start();
        CHECK(parse_segment_name(segment_name(f.log->recovery().next)));
        f.add(0, 20);
        f.sync();
    }
    CHECK(f.disk.exists(path + ".damaged"));
    CHECK(f.check() == "");
}

TEST_CASE("a footer or record with a position that no segment reaches is damaged", "[store][log]") {
    LogFixture f;
    f.add(0, 20);
    f.sync();
    SegmentHead head;
    head.log_id = LogId{std::byte{9}};
    head.epoch_ms = 1;
    head.first_position = f.log->status().next;
    const Position far = GENERATE(std::numeric_limits<Position>::max() - 9, Position{1} << 61U);
    ByteBuffer bytes;
    append_segment_head(head, bytes);
    SECTION("a footer") {
        SegmentFooter footer;
        footer.end_position = far;
        append_footer(footer, head.first_position, head.log_id, bytes);
    }
    SECTION("a record") {
        append_channels(std::vector<SegmentChannel>{}, far, head.log_id, bytes);
    }
    f.disk.open("/log/" + segment_name(head.first_position), FileSystem::Mode::create)->write(0, bytes);
    f.start();
    CHECK(f.log->recovery().next > head.first_position);
    CHECK(f.log->recovery().next < head.first_position + segment_positions_max);
    f.add(0, 20);
    f.sync();
    CHECK(f.check() == "");
}

TEST_CASE("one channel of a time range can be read", "[store][log]") {
    LogFixture f;
    for (int i = 0; i < 40; ++i) {
        f.add(0, 10);
        f.add(1, 25);
        f.sync();
    }
    const auto time_of = [&](std::uint64_t seq) {
        return make_sample(f.epoch, ChannelId{1}, seq).time_utc_ns;
    };
    std::vector<std::uint64_t> seqs;
    LogReader reader(f.disk, "/log");
    reader.select({"device/b", time_of(100), time_of(500)});
    reader.seek_time(time_of(100));
    LogBatch batch;
    while (reader.next(batch)) {
        REQUIRE(batch.selected != nullptr);
        CHECK(batch.selected->unit == "Cel");
        CHECK(batch.gaps.empty());
        for (const TelemetrySample& sample : batch.samples) {
            seqs.push_back(sample.seq);
        }
    }
    REQUIRE(seqs.size() == 400);
    CHECK(seqs.front() == 100);
    CHECK(seqs.back() == 499);
}

}  // namespace telegate::store
