#pragma once

#include "core/bytes.hpp"
#include "core/telemetry_sample.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace telegate::store {

using ByteBuffer = std::vector<std::byte>;

/// Why samples are missing from the log, or from a delivery of it. The numbers are on disk.
enum class GapReason : std::uint8_t {
    queue_overflow = 1,  // dropped at the queue; nobody received them
    shutdown = 2,        // dropped when the gateway stopped; nobody received them
    log_slow = 3,        // published, but the disk did not keep up
    log_full = 4,        // published, but the log was full and set to drop new samples
    crash = 5,           // published, and not on disk when the process or the machine stopped
    damaged = 6,         // on disk, but no longer readable
    retention = 7,       // removed because of a limit on size, age or free space
    unknown = 8,         // missing from the sequence for no known reason
    refused = 9,         // in the log, but refused by the back end of an uplink; never on disk
};
[[nodiscard]] std::string_view to_string(GapReason reason) noexcept;
/// Whether the samples of such a gap were published, so that subscribers may have received them.
[[nodiscard]] constexpr bool was_published(GapReason reason) noexcept {
    return reason != GapReason::queue_overflow && reason != GapReason::shutdown;
}

/// Samples `first_seq` to `last_seq` of a channel are missing.
struct LogGap {
    ChannelId channel{};
    std::uint64_t first_seq = 0;
    std::uint64_t last_seq = 0;
    GapReason reason{};

    bool operator==(const LogGap&) const = default;
};

/// The samples of one channel in a block.
struct BlockChannel {
    ChannelId channel{};
    std::uint32_t samples = 0;
    std::uint64_t first_seq = 0;
    std::uint64_t last_seq = 0;

    [[nodiscard]] bool has_holes() const noexcept { return last_seq - first_seq + 1 != samples; }
};

/// A gap, and the index of the sample of the block that it precedes.
struct BlockGap {
    std::uint32_t before_sample = 0;
    LogGap gap;
};

/// Samples that were published before a sample of the block, and are not logged because the log leaves out their
/// devices.
struct BlockSkip {
    std::uint32_t before_sample = 0;
    std::uint64_t samples = 0;
};

/// Calls `on_gap` with each BlockGap and `on_sample` with each sample, in order. Threads: any. Failure: exceptions of
/// the two.
template <class OnGap, class OnSample>
void for_entries(std::span<const TelemetrySample> samples, std::span<const BlockGap> gaps, const OnGap& on_gap,
                 const OnSample& on_sample) {
    auto gap = gaps.begin();
    for (std::size_t i = 0; i < samples.size(); ++i) {
        for (; gap != gaps.end() && gap->before_sample <= i; ++gap) {
            on_gap(*gap);
        }
        on_sample(samples[i]);
    }
    std::for_each(gap, gaps.end(), on_gap);
}

/// A part of a block's payload that is compressed on its own: the order and times of the samples in the first one, the
/// values of some channels in each of the others.
struct BlockChunk {
    std::uint32_t raw_bytes = 0;
    std::uint32_t stored_bytes = 0;
    std::uint32_t checksum = 0;
    std::uint32_t first_channel = 0;  // index in BlockHead::channels
};

/// The properties of a block except its times and values. Available without reading its payload.
struct BlockHead {
    static constexpr std::uint32_t payload_bytes_max = 16'777'216;

    std::uint32_t samples = 0;
    std::uint64_t published_before = 0;  // samples published in the epoch before the block, logged or not
    std::int64_t utc_min_ns = 0;
    std::int64_t utc_max_ns = 0;
    std::vector<BlockChannel> channels;  // in ascending order of their ids
    std::vector<BlockGap> gaps;
    std::vector<BlockChunk> chunks;
    std::vector<BlockSkip> skips;  // in ascending order of their samples

    /// Returns the samples published in the epoch before the end of the block.
    [[nodiscard]] std::uint64_t published_after() const noexcept;
    [[nodiscard]] std::uint64_t entries() const noexcept { return samples + gaps.size(); }
    [[nodiscard]] std::size_t payload_bytes() const noexcept;
    /// Returns the channel's part, or null if the block has no samples of the channel.
    [[nodiscard]] const BlockChannel* find(ChannelId channel) const noexcept;
    /// Returns the index of the chunk that contains the values of a channel of this block; 0 if there is none.
    [[nodiscard]] std::size_t chunk_of(const BlockChannel& channel) const noexcept;
    /// Returns the index after that of the last channel of a chunk with values.
    [[nodiscard]] std::size_t channels_end(std::size_t chunk) const noexcept {
        return chunk + 1 < chunks.size() ? chunks[chunk + 1].first_channel : channels.size();
    }
};

/// Adds the channels of one more block to those of the blocks before it. Both are sorted by id. Threads: any. Failure:
/// throws std::bad_alloc.
void add_to_channels(const std::vector<BlockChannel>& block, std::vector<BlockChannel>& all);

/// Collects samples and gaps and encodes them as one block: columns for each channel, compressed.
///
/// Threads: one.
/// Limits:  samples_max samples and gaps_max gaps, of any channels.
/// Failure: throws std::bad_alloc.
class BlockEncoder {
  public:
    static constexpr std::size_t samples_max = 16'384;
    static constexpr std::size_t gaps_max = 4'096;

    BlockEncoder();
    ~BlockEncoder();
    BlockEncoder(const BlockEncoder&) = delete;
    BlockEncoder& operator=(const BlockEncoder&) = delete;

    /// Adds one sample; there must be capacity for it.
    void add(const TelemetrySample& sample) { samples_.push_back(sample); }
    /// Adds a gap before the next sample; there must be capacity for it.
    void add(const LogGap& gap);
    /// Records samples that were published before the next sample, and are omitted.
    void skip(std::uint64_t samples);

    [[nodiscard]] std::size_t samples() const noexcept { return samples_.size(); }
    /// Returns the number of samples that were published since the block began, omitted or not.
    [[nodiscard]] std::uint64_t published() const noexcept { return samples_.size() + skipped_; }
    [[nodiscard]] std::size_t entries() const noexcept { return samples_.size() + gaps_.size(); }
    [[nodiscard]] bool is_empty() const noexcept { return entries() == 0; }
    [[nodiscard]] bool is_full() const noexcept { return samples_.size() == samples_max || gaps_.size() == gaps_max; }
    void clear() noexcept;

    /// Encodes what was added: appends the header and the payload to the two buffers, and describes them in
    /// `described`. `published_before`: see BlockHead.
    void encode(std::uint64_t published_before, BlockHead& described, ByteBuffer& head, ByteBuffer& payload);

  private:
    struct Scratch;  // memory that encode() reuses

    void describe(BlockHead& block);
    void encode_order(const BlockHead& block);
    void end_chunk(BlockHead& block, std::size_t first_channel, ByteBuffer& payload);

    std::vector<TelemetrySample> samples_;
    std::vector<BlockGap> gaps_;
    std::vector<BlockSkip> skips_;
    std::uint64_t skipped_ = 0;  // in all of skips_
    const std::unique_ptr<Scratch> scratch_;
};

/// Reads blocks. Input may be damaged or hostile: it is never trusted.
///
/// Threads: one.
/// Limits:  those of BlockEncoder; a block that claims to be larger is refused before memory is allocated for it.
/// Failure: functions return false if the input is not a block; they throw std::bad_alloc.
class BlockDecoder {
  public:
    BlockDecoder();
    ~BlockDecoder();
    BlockDecoder(const BlockDecoder&) = delete;
    BlockDecoder& operator=(const BlockDecoder&) = delete;

    /// Reads a header, which may be followed by padding.
    [[nodiscard]] static bool read_head(Bytes bytes, BlockHead& head);
    /// Appends all samples of the block, in order.
    [[nodiscard]] bool decode(const BlockHead& head, Bytes payload, std::vector<TelemetrySample>& out);
    /// The same, but if only values of some channels are damaged, it appends their samples without values and adds
    /// these channels to `lost`.
    [[nodiscard]] bool decode_intact(const BlockHead& head, Bytes payload, std::vector<TelemetrySample>& out,
                                     std::vector<ChannelId>& lost);
    /// Appends the samples of one channel, which the block must have, in order. Decompresses only what that takes.
    [[nodiscard]] bool decode_channel(const BlockHead& head, Bytes payload, ChannelId channel,
                                      std::vector<TelemetrySample>& out);

  private:
    struct Scratch;  // memory that decoding reuses

    [[nodiscard]] bool open_chunk(const BlockHead& head, Bytes payload, std::size_t chunk);
    [[nodiscard]] bool read_order(const BlockHead& head, Bytes payload);
    void place_samples(const BlockHead& head, std::span<TelemetrySample> samples);
    [[nodiscard]] bool decode_chunk(const BlockHead& head, Bytes payload, std::size_t chunk,
                                    std::span<TelemetrySample> samples);
    [[nodiscard]] bool append_channel(const BlockHead& head, Bytes payload, std::size_t place,
                                      std::vector<TelemetrySample>& out);

    const std::unique_ptr<Scratch> scratch_;
};

}  // namespace telegate::store
