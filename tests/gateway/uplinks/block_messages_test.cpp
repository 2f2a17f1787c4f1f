#include "uplinks/block_messages.hpp"

#include "core/channel_table.hpp"
#include "store/log_reader.hpp"
#include "store/sample_log.hpp"
#include "store/segment_reader.hpp"
#include "support/catch.hpp"
#include "support/manual_clock.hpp"
#include "support/scratch_dir.hpp"

#include <cstdint>
#include <fstream>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace telegate::test {
namespace {

constexpr std::int64_t epoch_ms = 1'000;

/// A log with two blocks and gaps within them.
struct WrittenLog {
    ScratchDir scratch;
    ChannelTable channels;
    ManualClock clock;
    std::string directory = scratch.path() + "/log";

    explicit WrittenLog(std::uint64_t samples) {
        REQUIRE(channels.add(DeviceId{0}, "plant", "level", "m"));
        REQUIRE(channels.add(DeviceId{0}, "plant", "flow", "m3/s"));
        store::SampleLog log({store::real_file_system(), channels, clock},
                             {.directory = directory, .epoch_ms = epoch_ms, .new_log_id = {std::byte{7}}});
        add(log, 1, samples);
        log.sync();
        add(log, samples + 11, samples);  // ten samples of the first channel are missing
        log.close();
    }

    static void add(store::SampleLog& log, std::uint64_t first, std::uint64_t count) {
        std::mt19937_64 random(first);
        std::vector<TelemetrySample> samples;
        for (std::uint64_t i = 0; i < count; ++i) {
            TelemetrySample sample{};
            sample.channel = ChannelId{0};
            sample.seq = first + i;
            sample.time_utc_ns = static_cast<std::int64_t>(first + i) * 1'000;
            sample.type = ValueType::integer;
            sample.value.integer = static_cast<std::int64_t>(random());  // cannot be compressed
            samples.push_back(sample);
        }
        log.append(samples);
    }
};

/// Reads all blocks, and passes them through messages of at most `bytes_max` bytes.
std::vector<uplink::OutgoingMessage> messages_of(const WrittenLog& log, std::size_t bytes_max) {
    BlockMessages encoder("subject", bytes_max);
    store::LogReader reader(store::real_file_system(), log.directory);
    reader.leave_encoded();
    store::LogBatch batch;
    std::vector<uplink::OutgoingMessage> messages;
    while (reader.next(batch)) {
        if (!encoder.pass_on(batch, messages)) {
            reader.decode(batch);
            encoder.encode(batch, messages);
        }
    }
    return messages;
}

struct Content {
    std::vector<std::uint64_t> seqs;
    std::vector<store::LogGap> gaps;
    std::vector<std::string> channels;
};

/// Reads messages as segment files.
Content read_messages(const std::vector<uplink::OutgoingMessage>& messages, const ScratchDir& scratch) {
    Content content;
    for (const uplink::OutgoingMessage& message : messages) {
        const std::string path = scratch.path() + "/message";
        std::ofstream(path, std::ios::binary) << message.payload;
        const auto segment = store::SegmentReader::open(store::real_file_system(), path);
        REQUIRE(segment != nullptr);
        CHECK(segment->head().epoch_ms == epoch_ms);
        CHECK(segment->damaged().empty());
        REQUIRE(segment->index().blocks.size() == 1);
        store::BlockHead head;
        store::ByteBuffer payload;
        REQUIRE(segment->read_block(segment->index().blocks[0], store::SegmentReader::Part::all, head, payload) ==
                store::SegmentReader::Result::intact);
        std::vector<TelemetrySample> samples;
        store::BlockDecoder decoder;
        REQUIRE(decoder.decode(head, payload, samples));
        CHECK(samples.size() == message.samples);
        for (const TelemetrySample& sample : samples) {
            content.seqs.push_back(sample.seq);
        }
        for (const store::BlockGap& gap : head.gaps) {
            content.gaps.push_back(gap.gap);
        }
        for (const store::SegmentChannel& channel : segment->index().definitions) {
            content.channels.push_back(channel.channel);
        }
    }
    return content;
}

}  // namespace

TEST_CASE("a block of the log is passed on as it is, with the definitions of its channels", "[gateway][uplinks]") {
    const WrittenLog log(1'000);
    const auto messages = messages_of(log, 1'000'000);
    REQUIRE(messages.size() == 2);
    CHECK(messages[1].missing == 10);
    const Content content = read_messages(messages, log.scratch);
    CHECK(content.seqs.size() == 2'000);
    CHECK(content.gaps == std::vector<store::LogGap>{{ChannelId{0}, 1'001, 1'010, store::GapReason::unknown}});
    CHECK(content.channels == std::vector<std::string>{"level", "level"});
}

TEST_CASE("a block that is too large for a message is divided", "[gateway][uplinks]") {
    const WrittenLog log(1'000);
    const auto messages = messages_of(log, 1'200);
    CHECK(messages.size() > 10);
    const Content content = read_messages(messages, log.scratch);
    REQUIRE(content.seqs.size() == 2'000);
    CHECK(content.seqs.back() == 2'010);
    REQUIRE(content.gaps.size() == 1);
    CHECK(content.gaps[0].last_seq == 1'010);
}

TEST_CASE("a part of a block is encoded again", "[gateway][uplinks]") {
    const WrittenLog log(100);
    store::LogReader reader(store::real_file_system(), log.directory);
    store::LogBatch batch;
    while (batch.samples.empty()) {
        REQUIRE(reader.next(batch));
    }
    batch.samples.resize(40);
    std::vector<uplink::OutgoingMessage> messages;
    BlockMessages encoder("subject", 1'000'000);
    CHECK_FALSE(encoder.pass_on(batch, messages));
    encoder.encode(batch, messages);
    CHECK(read_messages(messages, log.scratch).seqs.size() == 40);
}

}  // namespace telegate::test
