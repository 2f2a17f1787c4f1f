#include "store/sample_log.hpp"

#include "store/log_model.hpp"
#include "store/simulated_disk.hpp"
#include "support/catch.hpp"

#include <cstring>
#include <memory>
#include <system_error>

namespace telegate::store {
namespace {

constexpr std::size_t small_segment_bytes = 4'096;

/// A log on a simulated disk, and what it should contain.
struct LogFixture {
    SimulatedDisk disk{1};
    SystemClock clock;
    ChannelTable channels;
    LogModel model;
    std::int64_t epoch = 0;
    std::unique_ptr<SampleLog> log;
    LogLimits limits{};
    std::map<std::uint32_t, std::uint64_t> seqs;

    LogFixture() {
        for (const char* name : {"a", "b", "c"}) {
            REQUIRE(channels.add(DeviceId{0}, "device", name, "Cel"));
        }
        start();
    }

    std::uint64_t segment_bytes = small_segment_bytes;

    /// Marks channels as published up to these numbers.
    void mark(const std::map<std::uint32_t, std::uint64_t>& published) {
        log->mark([&](ChannelId channel) {
            const auto found = published.find(to_index(channel));
            return found == published.end() ? 0 : found->second;
        });
    }

    void start(const SampleLog::KnownSeqs& known = {}) {
        log.reset();
        seqs.clear();
        ++epoch;
        log = std::make_unique<SampleLog>(SampleLog::Parts{disk, channels, clock},
                                          SampleLog::Options{"/log", epoch, LogId{std::byte{9}}, limits, segment_bytes},
                                          known);
    }

    LogModel::Channel& expected(std::uint32_t channel) {
        return model.at(epoch, channels.at(static_cast<ChannelId>(channel)).topic);
    }

    void add(std::uint32_t channel, std::uint64_t count) {
        std::vector<TelemetrySample> samples;
        for (std::uint64_t i = 0; i < count; ++i) {
            samples.push_back(make_sample(epoch, static_cast<ChannelId>(channel), ++seqs[channel]));
        }
        log->append(samples);
        expected(channel).last_seq = seqs[channel];
    }

    void add_gap(std::uint32_t channel, std::uint64_t count, GapReason reason) {
        const std::uint64_t first = seqs[channel] + 1;
        seqs[channel] += count;
        log->append(LogGap{static_cast<ChannelId>(channel), first, seqs[channel], reason});
        expected(channel).last_seq = seqs[channel];
        expected(channel).gaps.push_back({first, seqs[channel]});
    }

    void sync() {
        log->sync();
        model.note_sync(epoch);
    }

    [[nodiscard]] std::string check() { return model.check(disk, "/log"); }

    [[nodiscard]] std::vector<LogGap> gaps() {
        std::vector<LogGap> all;
        LogReader reader(disk, "/log");
        LogBatch batch;
        while (reader.next(batch)) {
            for (const BlockGap& gap : batch.gaps) {
                all.push_back(gap.gap);
            }
        }
        return all;
    }
};

}  // namespace

TEST_CASE("a log gives back samples and gaps in order", "[store][log]") {
    LogFixture f;
    f.add(0, 10);
    f.add_gap(1, 5, GapReason::queue_overflow);
    f.add(1, 3);
    f.add(0, 1);
    f.sync();
    CHECK(f.check() == "");
    CHECK(f.gaps() == std::vector<LogGap>{{ChannelId{1}, 1, 5, GapReason::queue_overflow}});
    CHECK(f.log->status().samples == 14);
    CHECK(f.log->status().next == f.log->status().synced);
}

TEST_CASE("a log continues after a stop and after a restart", "[store][log]") {
    LogFixture f;
    f.add(0, 100);
    f.log->close();
    f.model.note_sync(f.epoch);
    f.start();
    CHECK(f.log->recovery().last_epoch_ended);
    f.add(0, 50);
    f.add(2, 1);
    f.sync();
    f.start();
    CHECK_FALSE(f.log->recovery().last_epoch_ended);
    CHECK(f.log->recovery().last_epoch_ms == 2);
    f.add(1, 10);
    f.sync();
    CHECK(f.check() == "");
}

TEST_CASE("a reader reports starts and stops", "[store][log]") {
    LogFixture f;
    f.add(0, 5);
    f.log->close();
    f.start();
    f.add(0, 5);
    f.sync();
    LogReader reader(f.disk, "/log");
    LogBatch batch;
    std::string story;
    while (reader.next(batch)) {
        story += batch.begins_epoch ? "start " : "";
        story += batch.samples.empty() ? "" : std::to_string(batch.samples.size()) + " ";
        story += batch.ends_epoch ? "stop " : "";
    }
    CHECK(story == "start 5 stop start 5 ");
}

TEST_CASE("a reader follows a log that is being written", "[store][log]") {
    LogFixture f;
    LogReader reader(f.disk, "/log");
    LogBatch batch;
    CHECK_FALSE(reader.next(batch));
    std::uint64_t read = 0;
    for (int round = 0; round < 40; ++round) {
        f.add(0, 30);
        f.log->write();
        while (reader.next(batch)) {
            CHECK(batch.gaps.empty());
            for (const TelemetrySample& sample : batch.samples) {
                CHECK(sample.seq == ++read);
            }
        }
        CHECK(read == f.seqs[0]);
    }
    CHECK(f.log->status().segments > 3);
}

TEST_CASE("a reader starts in the middle of a block without inventing gaps", "[store][log]") {
    LogFixture f;
    f.add(0, 100);
    f.add(1, 20);
    f.sync();
    f.add(0, 100);
    f.sync();
    for (Position position = 0; position < f.log->status().next; position += 7) {
        LogReader reader(f.disk, "/log");
        reader.seek(position);
        LogBatch batch;
        std::uint64_t entries = 0;
        while (reader.next(batch)) {
            CHECK(batch.gaps.empty());
            entries += batch.samples.size();
        }
        CHECK(entries == f.log->status().next - std::max<Position>(position, 1));
    }
}

TEST_CASE("a jump in the sequence numbers becomes a gap", "[store][log]") {
    LogFixture f;
    f.add(0, 2);
    f.seqs[0] += 3;
    f.add(0, 1);
    f.sync();
    CHECK(f.gaps() == std::vector<LogGap>{{ChannelId{0}, 3, 5, GapReason::unknown}});
}

TEST_CASE("the oldest segments are removed when the log reaches its size limit", "[store][log]") {
    LogFixture f;
    f.log->set_limits({.bytes_max = 20'000});
    for (int i = 0; i < 300; ++i) {
        f.add(0, 20);
        f.add(1, 20);
        f.sync();
        CHECK(f.log->status().bytes <= 20'000 + small_segment_bytes);
    }
    CHECK(f.log->status().segments_removed > 0);
    CHECK_FALSE(f.log->status().is_full);
    CHECK(f.check() == "");
    const auto gaps = f.gaps();
    REQUIRE(gaps.size() == 2);
    CHECK(gaps[0].reason == GapReason::retention);
}

TEST_CASE("old segments are removed by age", "[store][log]") {
    LogFixture f;
    f.log->set_limits({.age_max_ns = 1});  // the samples of the test are from 1970
    for (int i = 0; i < 50; ++i) {
        f.add(0, 50);
        f.sync();
    }
    CHECK(f.log->status().segments == 1);
    CHECK(f.check() == "");
}

TEST_CASE("a full log that drops new samples reports them as gaps", "[store][log]") {
    LogFixture f;
    f.log->set_limits({.bytes_max = 8'000, .when_full = WhenFull::drop_newest});
    for (int i = 0; i < 100; ++i) {
        f.add(0, 20);
        f.sync();
    }
    CHECK(f.log->status().is_full);
    CHECK(f.log->status().dropped_full > 0);
    CHECK(f.log->status().segments_removed == 0);
    f.log->set_limits({.bytes_max = 100'000, .when_full = WhenFull::drop_newest});
    f.sync();
    f.add(0, 5);
    f.sync();
    CHECK(f.check() == "");
    const auto gaps = f.gaps();
    REQUIRE(gaps.size() == 1);
    CHECK(gaps[0].reason == GapReason::log_full);
    CHECK(gaps[0].last_seq - gaps[0].first_seq + 1 == f.log->status().dropped_full);
}

TEST_CASE("a full log that blocks makes the caller wait and drops nothing", "[store][log]") {
    LogFixture f;
    f.log->set_limits({.bytes_max = 8'000, .when_full = WhenFull::block});
    while (!f.log->is_blocking()) {
        f.add(0, 20);
        f.sync();
    }
    CHECK(f.log->status().dropped_full == 0);
    f.log->set_limits({});
    f.sync();
    CHECK_FALSE(f.log->is_blocking());
    CHECK(f.check() == "");
}

TEST_CASE("a disk without free space makes the log remove its oldest segments", "[store][log]") {
    LogFixture f;
    f.disk.set_capacity(30'000);
    for (int i = 0; i < 300; ++i) {
        f.add(0, 30);
        f.sync();
    }
    CHECK(f.log->status().segments_removed > 0);
    CHECK(f.check() == "");
}

TEST_CASE("nothing is lost while the disk fails for a while", "[store][log]") {
    for (const std::errc error : {std::errc::io_error, std::errc::read_only_file_system}) {
        LogFixture f;
        f.add(0, 10);
        f.sync();
        f.disk.fail_always(error);
        for (int i = 0; i < 10; ++i) {
            f.add(0, 10);
            CHECK_THROWS_AS(f.log->sync(), std::system_error);
        }
        f.disk.clear_faults();
        f.sync();
        CHECK(f.check() == "");
        CHECK(f.gaps().empty());
    }
}

TEST_CASE("blocks are written again after a failed sync", "[store][log]") {
    LogFixture f;
    f.add(0, 10);
    f.sync();
    f.add(0, 10);
    f.log->write();
    f.disk.fail_at(1, std::errc::io_error);  // the sync
    CHECK_THROWS_AS(f.log->sync(), std::system_error);
    f.sync();
    f.disk.crash();
    CHECK(f.check() == "");
    CHECK(f.gaps().empty());
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
    PublishedMark(f.disk, "/log").write(head, {{ChannelId{0}, "device", "a", "", 99}});
    f.start();
    CHECK(f.log->recovery().crash_samples == 0);
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
        const LastSeqs last_seqs = PublishedMark::read(f.disk, "/log", LogId{std::byte{9}}, f.epoch);
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
    f.model.note_sync(f.epoch);
    CHECK(f.check() == "");
    f.start();
    CHECK(f.log->recovery().last_epoch_ended);
    CHECK(f.gaps() == std::vector<LogGap>{{ChannelId{0}, 11, 5'010, GapReason::log_full},
                                          {ChannelId{1}, 1, 5'003, GapReason::log_full}});
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
        f.sync();
    }
    CHECK(f.log->status().segments_removed > 2);
    CHECK(f.disk.exists("/log/reserve"));
    f.log->close();
    f.model.note_sync(f.epoch);
    CHECK(f.check() == "");
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
    f.model.note_sync(f.epoch);
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
    f.model.note_sync(f.epoch);
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
    CHECK(f.log->recovery().renamed.size() == (at == 0 ? 1U : 0U));
    f.add(1, 5);
    f.sync();
    CHECK(f.model.check(f.disk, "/log", {GapReason::damaged}) == "");
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

TEST_CASE("a log opens whatever its files contain", "[store][log]") {
    LogFixture f;
    for (int i = 0; i < 30; ++i) {
        f.add(0, 20);
        f.sync();
    }
    std::mt19937_64 random(3);
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
