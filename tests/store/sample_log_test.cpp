#include "store/log_fixture.hpp"

#include <cstring>
#include <limits>
#include <memory>
#include <system_error>

namespace telegate::store {

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
    f.model.record_sync(f.epoch);
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

TEST_CASE("a file that is not of the log does not stop a reader that follows it", "[store][log]") {
    LogFixture f;
    f.add(0, 10);
    f.sync();
    f.mark({});
    LogReader reader(f.disk, "/log");
    LogBatch batch;
    while (reader.next(batch)) {
    }
    SegmentHead head;
    head.first_position = f.log->status().next + GENERATE(1U, 100U, 1'000'000U);
    head.log_id = LogId{std::byte{7}};
    head.epoch_ms = 99;
    head.begins_epoch = true;
    const std::string path = "/log/" + segment_name(head.first_position);
    if (GENERATE(false, true)) {
        SegmentWriter(f.disk, path, head).seal();
    } else {
        f.disk.open(path, FileSystem::Mode::create)->write(0, std::vector<std::byte>(500, std::byte{1}));
    }
    if (GENERATE(false, true)) {
        reader.seek_time(std::numeric_limits<std::int64_t>::max());
    }
    std::uint64_t read = f.seqs[0];
    for (int round = 0; round < 40; ++round) {
        f.add(0, 30);
        f.log->write();
        while (reader.next(batch)) {
            CHECK(batch.gaps.empty());
            for (const TelemetrySample& sample : batch.samples) {
                CHECK(sample.seq == ++read);
            }
        }
        REQUIRE(read == f.seqs[0]);
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

TEST_CASE("samples that a log leaves out are counted, and do not become gaps", "[store][log]") {
    LogFixture f;
    f.add(0, 3);
    f.log->skip(10);
    f.add(1, 2);
    f.log->record_published(4);  // lost
    f.log->skip(5);
    f.sync();
    CHECK(f.log->status().left_out == 0);  // in the block
    f.log->skip(6);
    f.sync();
    CHECK(f.log->status().left_out == 6);
    CHECK(f.log->status().published == 30);
    CHECK(f.log->status().samples == 5);
    f.add(0, 2);
    f.sync();
    CHECK(f.check() == "");
    CHECK(f.gaps().empty());
    for (const Position start : {0U, 5U}) {  // at the start, and in the middle of the first block
        LogReader reader(f.disk, "/log");
        reader.seek(start);
        LogBatch batch;
        std::vector<std::uint64_t> published;
        while (reader.next(batch)) {
            for (std::size_t i = 0; i < batch.samples.size(); ++i) {
                published.push_back(batch.published_before_sample(i));
            }
        }
        CHECK(published == (start == 0 ? std::vector<std::uint64_t>{0, 1, 2, 13, 14, 30, 31}
                                       : std::vector<std::uint64_t>{14, 30, 31}));
    }
}

TEST_CASE("a log counts the bytes that it has written on the day of its newest sample", "[store][log]") {
    constexpr std::int64_t day_ns = 86'400'000'000'000;
    LogFixture f;
    CHECK(f.log->status().day_ns == 0);
    const auto add_on_day = [&](std::int64_t day) {
        TelemetrySample sample = make_sample(f.epoch, ChannelId{0}, ++f.seqs[0]);
        sample.time_utc_ns = day * day_ns + 1;
        const std::uint64_t before = f.log->status().written_bytes;
        f.log->append(std::vector{sample});
        f.sync();
        CHECK(f.log->status().day_ns == day * day_ns);
        return f.log->status().written_bytes - before;
    };
    const std::uint64_t first = add_on_day(20'000);
    CHECK(f.log->status().day_bytes == first);
    const std::uint64_t second = add_on_day(20'000);
    CHECK(f.log->status().day_bytes == first + second);
    const std::uint64_t next_day = add_on_day(20'001);
    CHECK(f.log->status().day_bytes == next_day);
    CHECK(f.log->status().written_bytes == first + second + next_day);
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

TEST_CASE("age does not remove a segment whose samples cannot be read", "[store][log]") {
    LogFixture f;
    for (int i = 0; i < 50; ++i) {
        f.add(0, 50);
        f.sync();
    }
    const auto segments = list_segments(f.disk, "/log");
    REQUIRE(segments.size() > 2);
    const std::string oldest = "/log/" + segments.front().name;
    f.disk.make_unreadable(oldest, SegmentHead::bytes, f.disk.content(oldest).size());
    constexpr std::int64_t hour_ns = 3'600'000'000'000;
    f.limits = {.age_max_ns = hour_ns};  // the samples of the test are from 1970
    f.start();
    f.add(0, 50);
    f.sync();
    CHECK(f.disk.exists(oldest));
}

TEST_CASE("age does not remove segments that are still needed", "[store][log]") {
    LogFixture f;
    f.log->set_limits({.age_max_ns = 1, .keep_from = 0});
    for (int i = 0; i < 50; ++i) {
        f.add(0, 50);
        f.sync();
    }
    CHECK(f.log->status().segments > 2);
    const Position oldest = f.log->status().oldest;
    f.log->set_limits({.age_max_ns = 1, .keep_from = oldest + 1'000});
    f.add(0, 50);
    f.sync();
    CHECK(f.log->status().oldest > oldest);
    CHECK(f.log->status().oldest <= oldest + 1'000);
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

TEST_CASE("a sample that a full log has dropped is named once there is space, without a later sample", "[store][log]") {
    LogFixture f;
    f.log->set_limits({.bytes_max = 8'000, .when_full = WhenFull::drop_newest});
    while (!f.log->status().is_full) {
        f.add(0, 20);
        f.sync();
    }
    f.add(0, 1);
    CHECK(f.log->status().dropped_unnamed == 1);
    f.log->set_limits({.bytes_max = 100'000, .when_full = WhenFull::drop_newest});
    f.sync();
    f.sync();
    CHECK(f.log->status().dropped_unnamed == 0);
    CHECK(f.gaps() == std::vector<LogGap>{{ChannelId{0}, f.seqs[0], f.seqs[0], GapReason::log_full}});
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
}  // namespace telegate::store
