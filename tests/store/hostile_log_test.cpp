// Logs that no gateway has written: every checksum is correct, but the content contradicts itself.
#include "codec/block_parts.hpp"
#include "store/log_reader.hpp"
#include "store/segment_writer.hpp"
#include "store/simulated_disk.hpp"

#include "store/log_model.hpp"
#include "support/catch.hpp"
#include "support/scratch_dir.hpp"

#include "core/bytes.hpp"
#include "core/endian.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

namespace telegate::store {
namespace {

constexpr const char* segment_path = "/log/00000000000000000000.tgl";
constexpr LogId log_id{std::byte{5}};

struct OneBlock {
    BlockHead described;
    ByteBuffer head;
    ByteBuffer payload;
};

/// A block of channel 0 with these sequence numbers.
OneBlock block_of(const std::vector<std::uint64_t>& seqs, const std::vector<LogGap>& gaps = {}) {
    BlockEncoder encoder;
    for (const LogGap& gap : gaps) {
        encoder.add(gap);
    }
    for (const std::uint64_t seq : seqs) {
        encoder.add(make_sample(1, ChannelId{0}, seq));
    }
    OneBlock block;
    encoder.encode(0, block.described, block.head, block.payload);
    return block;
}

SegmentHead head_at(Position position) {
    SegmentHead head;
    head.log_id = log_id;
    head.first_position = position;
    head.epoch_ms = 1;
    return head;
}

/// Writes a segment with blocks of channel 0, one after the other.
void write_segment(SimulatedDisk& disk, const std::string& name, Position position,
                   const std::vector<OneBlock>& blocks) {
    SegmentWriter writer(disk, name, head_at(position));
    writer.define({{ChannelId{0}, "device", "channel", "", 0}});
    for (const OneBlock& block : blocks) {
        writer.append(block.described, block.head, block.payload, position);
        position += block.described.entries();
    }
    writer.seal();
}

struct ReadLog {
    std::vector<std::uint64_t> seqs;
    std::vector<LogGap> gaps;
};

ReadLog read_all(SimulatedDisk& disk) {
    ReadLog read;
    LogReader reader(disk, "/log");
    LogBatch batch;
    while (reader.next(batch)) {
        std::transform(batch.samples.begin(), batch.samples.end(), std::back_inserter(read.seqs),
                       [](const TelemetrySample& sample) { return sample.seq; });
        std::transform(batch.gaps.begin(), batch.gaps.end(), std::back_inserter(read.gaps),
                       [](const BlockGap& gap) { return gap.gap; });
    }
    return read;
}

bool is_head(const OneBlock& block) {
    BlockHead head;
    return BlockDecoder::read_head(block.head, head);
}

}  // namespace

TEST_CASE("sequence numbers of a block ascend from 1", "[store][hostile]") {
    CHECK(is_head(block_of({1, 2, 5})));
    CHECK_FALSE(is_head(block_of({0, 1})));
    CHECK_FALSE(is_head(block_of({}, {{ChannelId{0}, 0, 3, GapReason::crash}})));
    const OneBlock jumps_back = block_of({1, 9, 4, 12});
    std::vector<TelemetrySample> samples;
    BlockDecoder decoder;
    CHECK_FALSE(decoder.decode(jumps_back.described, jumps_back.payload, samples));
    CHECK(samples.empty());
}

TEST_CASE("a block with samples has their values", "[store][hostile]") {
    OneBlock block = block_of({1, 2});
    constexpr std::size_t chunk_count = 3;  // after the numbers of samples, gaps and channels
    REQUIRE(block.head.at(chunk_count) == std::byte{2});
    block.head.at(chunk_count) = std::byte{1};
    CHECK_FALSE(is_head(block));
}

TEST_CASE("the payload of a block is not larger than that of a record", "[store][hostile]") {
    const auto [chunk_bytes, is_valid] = GENERATE(table<std::uint32_t, bool>({{3'145'728, true}, {4'194'304, false}}));
    BlockEncoder encoder;
    for (std::uint16_t channel = 0; channel < 4; ++channel) {
        encoder.add(make_sample(1, ChannelId{channel}, 1));
    }
    OneBlock block;
    encoder.encode(0, block.described, block.head, block.payload);
    block.described.chunks.resize(2);
    for (std::uint32_t channel = 1; channel < 4; ++channel) {
        block.described.chunks.push_back({.first_channel = channel});
    }
    for (BlockChunk& chunk : block.described.chunks) {
        chunk.stored_bytes = chunk_bytes;
    }
    std::vector<std::uint64_t> scratch;
    block.head.clear();
    append_block_head(block.described, scratch, block.head);
    CHECK(is_head(block) == is_valid);
}

TEST_CASE("a sample that is in the log twice is read once", "[store][hostile]") {
    SimulatedDisk disk(1);
    write_segment(disk, segment_path, 0, {block_of({1, 2, 3}), block_of({2, 3, 4, 5}), block_of({7})});
    const ReadLog read = read_all(disk);
    CHECK(read.seqs == std::vector<std::uint64_t>{1, 2, 3, 4, 5, 7});
    CHECK(read.gaps == std::vector<LogGap>{{ChannelId{0}, 6, 6, GapReason::unknown}});
}

TEST_CASE("a gap names only samples that were not read", "[store][hostile]") {
    SimulatedDisk disk(1);
    write_segment(disk, segment_path, 0,
                  {block_of({1, 2, 3}), block_of({4, 6}, {{ChannelId{0}, 2, 5, GapReason::log_slow}})});
    const ReadLog read = read_all(disk);
    CHECK(read.seqs == std::vector<std::uint64_t>{1, 2, 3, 6});
    CHECK(read.gaps == std::vector<LogGap>{{ChannelId{0}, 4, 5, GapReason::log_slow}});
}

TEST_CASE("a segment under the name of another position is skipped", "[store][hostile]") {
    SimulatedDisk disk(1);
    write_segment(disk, segment_path, 0, {block_of({1, 2})});
    write_segment(disk, "/log/00000000000000000009.tgl", 5, {block_of({3})});
    write_segment(disk, "/log/00000000000000000020.tgl", 20, {block_of({4, 5})});
    const ReadLog read = read_all(disk);
    CHECK(read.seqs == std::vector<std::uint64_t>{1, 2, 4, 5});
    CHECK(read.gaps == std::vector<LogGap>{{ChannelId{0}, 3, 3, GapReason::damaged}});
}

TEST_CASE("a footer that contradicts itself is not used", "[store][hostile]") {
    const auto change = GENERATE(0, 1, 2, 3, 4);
    SimulatedDisk disk(1);
    write_segment(disk, segment_path, 0, {block_of({1, 2, 3}), block_of({4, 5})});
    SegmentFooter footer = SegmentReader::open(disk, segment_path)->index();
    switch (change) {
        case 0: std::swap(footer.blocks[0], footer.blocks[1]); break;
        case 1: footer.blocks[1].offset = UINT64_MAX - 7; break;
        case 2: footer.blocks[1].position = UINT64_MAX - 1; break;
        case 3: footer.channels[0].channel = ChannelId{1}; break;
        default: footer.blocks.assign(1'000'000, footer.blocks[1]); break;
    }
    std::vector<std::byte>& content = disk.content(segment_path);
    const auto tail = SegmentReader::tail(disk, segment_path);
    REQUIRE(tail);
    content.resize(content.size() - tail->footer_bytes);
    append_footer(footer, footer.end_position, log_id, content);
    CHECK(SegmentReader::open(disk, segment_path)->index().blocks.size() == 2);
    CHECK(read_all(disk).seqs == std::vector<std::uint64_t>{1, 2, 3, 4, 5});
}

TEST_CASE("a footer that claims more blocks than a segment can have takes no memory", "[store][hostile]") {
    constexpr std::uint64_t blocks = SegmentFooter::blocks_max + 1;
    constexpr std::size_t head_bytes = RecordHead::bytes;
    const test::ScratchDir dir;
    const std::string path = dir.path(segment_name(0));
    SegmentFooter footer;
    footer.end_position = 3 * blocks;
    for (std::uint64_t i = 0; i < 3; ++i) {  // columns of two values and no residuals, whatever their length
        footer.blocks.push_back({SegmentHead::bytes + 32 * i, i, 1, 0, 0, 1});
    }
    ByteBuffer record;
    append_footer(footer, footer.end_position, log_id, record);
    const std::size_t count_at = head_bytes + 3 + 1;  // after the end position and that there is no stop
    REQUIRE(record.at(count_at) == std::byte{3});
    const std::vector<std::byte> count{std::byte{(blocks & 0x7FU) | 0x80U}, std::byte{((blocks >> 7U) & 0x7FU) | 0x80U},
                                       std::byte{blocks >> 14U}};
    record.at(count_at) = count.back();
    record.insert(record.begin() + count_at, count.begin(), count.end() - 1);
    for (int i = 0; i < 2; ++i) {
        REQUIRE(record.at(record.size() - FooterTail::bytes - 1) == std::byte{0});  // padding
        record.erase(record.end() - FooterTail::bytes - 1);
    }
    store_little_endian(record.data(), crc32c(std::span(record).subspan(4)));
    ByteBuffer head;
    append_segment_head(head_at(0), head);
    const auto file = real_file_system().open(path, FileSystem::Mode::create);
    file->write(0, head);
    file->write(blocks * 33, record);  // the rest of the file takes no space
    CHECK(SegmentReader::tail(real_file_system(), path)->footer_bytes == record.size());
    CHECK(SegmentReader::open(real_file_system(), path)->index().blocks.empty());
}

TEST_CASE("a channel that is declared twice has the first declaration", "[store][hostile]") {
    SimulatedDisk disk(1);
    SegmentWriter writer(disk, segment_path, head_at(0));
    for (int i = 0; i < 3; ++i) {
        writer.define({{ChannelId{0}, "device", "channel" + std::to_string(i), "", 0}});
    }
    const auto reader = SegmentReader::open(disk, segment_path);
    REQUIRE(reader->index().definitions.size() == 1);
    CHECK(reader->index().definitions[0].channel == "channel0");
}

}  // namespace telegate::store
