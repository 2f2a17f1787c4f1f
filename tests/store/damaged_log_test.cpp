// Logs of which a part is damaged. The tests know which samples must be readable from the records of the intact files,
// which they parse themselves, and from the samples that they have appended.
#include "store/log_fixture.hpp"
#include "store/log_index.hpp"

#include "core/endian.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace telegate::store {
namespace {

using Seqs = std::set<std::uint64_t>;

/// A record of a file.
struct Record {
    std::size_t from = 0;
    std::size_t to = 0;
    unsigned type = 0;

    [[nodiscard]] bool has(std::size_t at) const noexcept { return from <= at && at < to; }
};

constexpr unsigned channels_type = 1;
constexpr unsigned block_type = 2;

std::vector<Record> records_of(std::span<const std::byte> file, unsigned type) {
    std::vector<Record> records;
    for (std::size_t at = SegmentHead::bytes; at + 32 <= file.size();) {
        const std::size_t end =
            at + load_little_endian<std::uint32_t>(&file[at + 4]) + load_little_endian<std::uint32_t>(&file[at + 8]);
        if (load_little_endian<std::uint16_t>(&file[at + 12]) == type) {
            records.push_back({at, end, type});
        }
        at = end;
    }
    return records;
}

/// The samples and gaps of an epoch that a reader finds, by topic.
struct Found {
    std::map<std::string, Seqs> samples;
    std::map<std::string, std::map<GapReason, Seqs>> gaps;
    std::string wrong;
    std::uint64_t unnamed = 0;
};

Found read_epoch(SimulatedDisk& disk, std::int64_t epoch_ms) {
    Found found;
    LogReader reader(disk, "/log");
    LogBatch batch;
    while (reader.next(batch)) {
        found.unnamed += batch.unnamed;
        if (batch.epoch_ms != epoch_ms) {
            continue;
        }
        for (const TelemetrySample& sample : batch.samples) {
            const TelemetrySample expected = make_sample(epoch_ms, sample.channel, sample.seq);
            if (std::memcmp(&expected, &sample, sizeof sample) != 0 ||
                !found.samples[batch.find(sample.channel)->topic()].insert(sample.seq).second) {
                found.wrong += "sample " + std::to_string(sample.seq) + "\n";
            }
        }
        for (const BlockGap& each : batch.gaps) {
            for (std::uint64_t seq = each.gap.first_seq; seq <= each.gap.last_seq; ++seq) {
                found.gaps[batch.find(each.gap.channel)->topic()][each.gap.reason].insert(seq);
            }
        }
    }
    return found;
}

/// A log whose blocks are known. `blocks`: the samples of each, by topic.
struct KnownLog : LogFixture {
    std::vector<std::map<std::string, Seqs>> blocks;

    /// Writes a block with `count` samples of each of these channels.
    void block(const std::vector<std::uint32_t>& of, std::uint64_t count) {
        blocks.emplace_back();
        for (const std::uint32_t channel : of) {
            add(channel, count);
            for (std::uint64_t i = 0; i < count; ++i) {
                blocks.back()[channels.at(static_cast<ChannelId>(channel)).topic].insert(seqs[channel] - i);
            }
        }
        sync();
    }

    void blocks_with_new_channels() {
        block({0}, 9);
        block({0, 1}, 7);
        block({1}, 30);
        block({0, 1, 2}, 4);
    }

    [[nodiscard]] std::string path(std::size_t segment) {
        return "/log/" + list_segments(disk, "/log").at(segment).name;
    }

    [[nodiscard]] LastSeqs last_seqs() const {
        LastSeqs last;
        for (const auto& [channel, seq] : seqs) {
            last[channels.at(static_cast<ChannelId>(channel)).topic] = seq;
        }
        return last;
    }

    /// Checks that the samples of blocks without damage are read, and that all others are damaged. `is_damaged`: by
    /// block.
    [[nodiscard]] std::string check_blocks(std::int64_t of_epoch, const LastSeqs& last,
                                           const std::function<bool(std::size_t)>& is_damaged) {
        Found found = read_epoch(disk, of_epoch);
        std::string wrong = found.wrong;
        std::map<std::string, Seqs> expected;
        for (std::size_t i = 0; i < blocks.size(); ++i) {
            for (const auto& [topic, numbers] : blocks[i]) {
                if (!is_damaged(i)) {
                    expected[topic].insert(numbers.begin(), numbers.end());
                }
            }
        }
        for (const auto& [topic, last_seq] : last) {
            for (std::uint64_t seq = 1; seq <= last_seq; ++seq) {
                const bool is_read = found.samples[topic].contains(seq);
                const bool is_named = found.gaps[topic][GapReason::damaged].contains(seq);
                if (is_read == is_named || (expected[topic].contains(seq) && !is_read)) {
                    wrong += topic + " " + std::to_string(seq) + (is_read ? " is read\n" : " is not read\n");
                }
            }
        }
        return wrong;
    }
};

}  // namespace

TEST_CASE("a damaged byte costs no intact block, whether a log is read or continued", "[store][damage]") {
    const bool is_stopped = GENERATE(false, true);
    KnownLog f;
    f.blocks_with_new_channels();
    if (is_stopped) {
        f.log->close();
    }
    f.log.reset();
    const std::string path = f.path(0);
    const std::vector<std::byte> intact = f.disk.content(path);
    const std::vector<Record> blocks = records_of(intact, block_type);
    const LastSeqs last = f.last_seqs();
    REQUIRE(blocks.size() == f.blocks.size());
    for (std::size_t at = 0; at < intact.size(); ++at) {
        CAPTURE(at, is_stopped);
        for (const std::string& each : f.disk.list("/log")) {
            f.disk.drop("/log/" + each);
        }
        f.disk.open(path, FileSystem::Mode::create)->write(0, intact);
        f.disk.content(path)[at] ^= static_cast<std::byte>(1U << at % 8);
        const auto is_damaged = [&](std::size_t block) {
            return blocks[block].has(at);
        };
        f.epoch = 1;
        f.start([&](std::int64_t) { return last; });
        f.add(1, 5);
        f.sync();
        REQUIRE(f.check_blocks(1, last, is_damaged) == "");
    }
}

TEST_CASE("a segment whose beginning is gone is read with the help of the others", "[store][damage]") {
    KnownLog f;
    f.segment_bytes = 1'500;
    f.start();
    const std::int64_t epoch = f.epoch;
    for (int i = 0; i < 12; ++i) {
        f.block({0, 1, 2}, 9);
        f.mark({{0, f.seqs[0] + 1}});
    }
    const std::size_t segments = list_segments(f.disk, "/log").size();
    REQUIRE(segments > 4);
    const std::size_t damaged = GENERATE_COPY(std::size_t{1}, std::size_t{3}, segments - 1);
    const std::string path = f.path(damaged);
    std::vector<std::byte>& content = f.disk.content(path);
    const std::size_t first_block = records_of(content, block_type).front().from;
    std::fill(content.begin(), content.begin() + static_cast<std::ptrdiff_t>(first_block), std::byte{0x55});
    const LastSeqs last = f.last_seqs();
    const auto none = [](std::size_t) {
        return false;
    };
    CHECK(f.check_blocks(epoch, last, none) == "");
    f.start();
    CHECK(f.log->recovery().renamed.empty());
    CHECK(f.log->recovery().repaired.size() == 1);
    CHECK(SegmentReader::head_alone(f.disk, path)->epoch_ms == epoch);
    CHECK(f.check_blocks(epoch, last, none) == "");
}

TEST_CASE("a destroyed header is rebuilt from the newest mark", "[store][damage]") {
    KnownLog f;
    f.segment_bytes = 1'500;
    f.mark({});
    f.mark({});  // both files
    f.block({0, 1, 2}, 9);
    f.start();
    f.mark({});  // only one of them
    while (list_segments(f.disk, "/log").size() < 4) {
        f.block({0, 1, 2}, 9);
    }
    f.log.reset();
    const std::string damaged = f.path(GENERATE(1U, 2U));  // with the start of the run, and without
    for (const SegmentRef& each : list_segments(f.disk, "/log")) {
        if ("/log/" + each.name != damaged) {
            f.disk.drop("/log/" + each.name);
        }
    }
    std::fill_n(f.disk.content(damaged).begin(), SegmentHead::bytes, std::byte{0x55});
    CHECK(SegmentReader::head(f.disk, damaged).value_or(SegmentHead{}).epoch_ms == 2);
}

TEST_CASE("names that are in no other place are taken from the marks", "[store][damage]") {
    KnownLog f;
    f.mark({{0, 1}});
    f.mark({{0, 1}});
    f.block({0, 1}, 9);
    std::vector<std::byte>& content = f.disk.content(f.path(0));
    for (const Record& each : records_of(content, channels_type)) {
        content[each.to - 1] ^= std::byte{1};
    }
    const LastSeqs last = f.last_seqs();
    f.start();
    CHECK(f.check_blocks(1, last, [](std::size_t) { return false; }) == "");
    f.mark({{0, 1}});
    f.mark({{0, 1}});
    CHECK(f.check_blocks(1, last, [](std::size_t) { return false; }) == "");  // the footer has them now
}

TEST_CASE("a block with a channel whose name is lost stays, with the samples of the others", "[store][damage]") {
    KnownLog f;
    f.block({0}, 9);
    f.block({0, 1}, 7);
    f.block({0}, 3);
    std::vector<std::byte>& content = f.disk.content(f.path(0));
    std::size_t damaged = 0;
    for (const Record& each : records_of(content, channels_type)) {
        const std::string_view text(reinterpret_cast<const char*>(&content[each.from]), each.to - each.from);
        if (text.find("\1b") != std::string_view::npos) {
            content[each.from + 40] ^= std::byte{1};
            ++damaged;
        }
    }
    REQUIRE(damaged == 2);
    const std::vector<std::byte> before = content;
    const LastSeqs last = f.last_seqs();
    f.start([&](std::int64_t) { return last; });
    CHECK(f.log->recovery().unnamed == 1);
    CHECK(f.log->recovery().truncated_bytes == 0);
    const std::vector<std::byte>& after = f.disk.content(f.path(0));
    CHECK(std::equal(before.begin(), before.end(), after.begin()));
    const Found found = read_epoch(f.disk, 1);
    CHECK(found.samples.at("device/a").size() == 19);
    CHECK(found.unnamed == 7);
    CHECK(f.check_blocks(1, last, [](std::size_t block) { return block == 1; }).find("is not") == std::string::npos);
}

TEST_CASE("a damaged chunk costs the samples of its channels only", "[store][damage]") {
    KnownLog f;
    for (const char* const name : {"d", "e", "f", "g", "h"}) {
        REQUIRE(f.channels.add(DeviceId{0}, "device", name, ""));
    }
    f.block({0, 1, 2, 3, 4, 5, 6, 7}, 2'000);
    f.add_gap(7, 2, GapReason::log_slow);
    f.block({0, 7}, 5);
    f.log->close();
    f.log.reset();
    std::vector<std::byte>& content = f.disk.content(f.path(0));
    const auto segment = SegmentReader::open(f.disk, f.path(0));
    BlockHead head;
    ByteBuffer payload;
    REQUIRE(segment->read_block(segment->index().blocks[0], SegmentReader::Part::all, head, payload) ==
            SegmentReader::Result::intact);
    REQUIRE(head.chunks.size() > 2);
    content[records_of(content, block_type)[0].to - 12] ^= std::byte{1};
    const std::size_t first_lost = head.chunks.back().first_channel;
    const bool is_continued = GENERATE(false, true);
    if (is_continued) {
        f.start();
    }
    LogReader reader(f.disk, "/log");
    if (GENERATE(false, true)) {
        reader.leave_encoded();
    }
    LogBatch batch;
    std::vector<LogGap> gaps;
    std::map<std::uint32_t, std::uint64_t> counts;
    bool is_in_place = true;
    while (reader.next(batch)) {
        reader.decode(batch);
        for (std::size_t i = 0; i < batch.samples.size(); ++i) {
            ++counts[to_index(batch.samples[i].channel)];
            is_in_place &= batch.places.empty() ||
                           batch.places[i] == 2'000 * to_index(batch.samples[i].channel) + batch.samples[i].seq - 1;
        }
        std::transform(batch.gaps.begin(), batch.gaps.end(), std::back_inserter(gaps),
                       [](const BlockGap& each) { return each.gap; });
    }
    CHECK(is_in_place);
    for (std::uint32_t channel = 0; channel < 8; ++channel) {
        const std::uint64_t later = channel == 0 || channel == 7 ? 5 : 0;
        CHECK(counts[channel] == (channel < first_lost ? 2'000 : 0) + later);
    }
    REQUIRE(gaps.size() == 8 - first_lost + 1);
    for (std::size_t i = 0; i + 1 < gaps.size(); ++i) {
        CHECK(gaps[i] == LogGap{static_cast<ChannelId>(first_lost + i), 1, 2'000, GapReason::damaged});
    }
    CHECK(gaps.back() == LogGap{ChannelId{7}, 2'001, 2'002, GapReason::log_slow});
}

TEST_CASE("samples that a power failure has truncated are lost by a crash, not damaged", "[store][damage]") {
    KnownLog f;
    f.block({0}, 9);
    f.block({0}, 400);
    f.block({0}, 9);
    f.log.reset();
    std::vector<std::byte>& content = f.disk.content(f.path(0));
    const std::vector<Record> blocks = records_of(content, block_type);
    const bool is_last = GENERATE(false, true);
    if (is_last) {
        content.resize(blocks[1].to);
    }
    const std::size_t from = GENERATE(false, true) ? blocks[1].from : (blocks[1].from / 512 + 2) * 512;
    REQUIRE(from + 512 < blocks[1].to);
    std::fill(content.begin() + static_cast<std::ptrdiff_t>(from),
              content.begin() + static_cast<std::ptrdiff_t>(blocks[1].to), std::byte{0});
    const std::uint64_t last = is_last ? 409 : 418;
    if (GENERATE(false, true) || is_last) {
        f.start([&](std::int64_t) { return LastSeqs{{"device/a", last}}; });
        f.add(1, 5);
        f.sync();
        CHECK(f.log->recovery().damaged.empty());
    }
    Found found = read_epoch(f.disk, 1);
    CHECK(found.samples["device/a"].size() == last - 400);
    CHECK(found.gaps["device/a"][GapReason::crash].size() == 400);
    CHECK(found.gaps["device/a"][GapReason::damaged].empty());
}

TEST_CASE("the last epoch of a log is known from its segments and from its marks", "[store][log]") {
    LogFixture f;
    f.add(0, 3);
    f.sync();
    f.start();
    f.mark({{0, 1}});
    f.log.reset();
    CHECK(newest_epoch_ms(f.disk, "/log") == 2);
    for (const SegmentRef& each : list_segments(f.disk, "/log")) {
        f.disk.drop("/log/" + each.name);
    }
    CHECK(newest_epoch_ms(f.disk, "/log") == 2);
    SegmentHead head;
    head.first_position = 9;
    head.epoch_ms = INT64_MAX;  // no clock can be later
    SegmentWriter(f.disk, "/log/" + segment_name(9), head);
    CHECK(newest_epoch_ms(f.disk, "/log") == 2);
    CHECK(newest_epoch_ms(f.disk, "/none") == 0);
}

TEST_CASE("a file that cannot be opened does not hide the last epoch of the others", "[store][log]") {
    LogFixture f;
    f.add(0, 3);
    f.sync();
    f.start();
    f.mark({{0, 1}});
    f.sync();
    f.log.reset();
    std::uint64_t call = 0;
    bool has_failed = true;
    while (has_failed) {
        const std::uint64_t before = f.disk.calls();
        f.disk.fail_at(++call, std::errc::permission_denied);
        CAPTURE(call);
        CHECK(newest_epoch_ms(f.disk, "/log") == 2);
        has_failed = f.disk.calls() - before >= call;
        f.disk.clear_faults();
    }
    CHECK(call > 3);
}

TEST_CASE("two runs with the same epoch are both read", "[store][damage]") {
    LogFixture f;
    f.add(0, 30);
    f.sync();
    f.log->close();
    f.epoch = 0;  // start() counts it up
    f.start();
    f.add(0, 12);
    f.sync();
    LogReader reader(f.disk, "/log");
    LogBatch batch;
    std::size_t samples = 0;
    int restarts = 0;
    while (reader.next(batch)) {
        samples += batch.samples.size();
        restarts += batch.restarts_seqs ? 1 : 0;
        CHECK(batch.gaps.empty());
    }
    CHECK(samples == 42);
    CHECK(restarts == 1);
}

}  // namespace telegate::store
