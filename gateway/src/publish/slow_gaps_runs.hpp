#pragma once

#include "config/payload_format.hpp"
#include "core/channel_table.hpp"
#include "core/delivery.hpp"
#include "core/telemetry_sample.hpp"
#include "encode/notice_encoder.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace telegate {

/// A sample, identified by channel and sequence number; seq 0: none.
struct SamplePlace {
    ChannelId channel{};
    std::uint64_t seq = 0;
};

/// A range of missing samples of a channel.
struct MissingSamples {
    SeqRange seqs;
    ChannelId channel{};
};

/// The samples of a lost run, without its messages. Consecutive samples of a channel form one part, at the position of
/// the first one.
struct RunDigest {
    std::vector<MissingSamples> parts;
    SamplePlace first;
    SamplePlace last;
};

/// Finds the samples in lost messages. A run that many subscribers lose is parsed only once.
///
/// The reader guesses that a channel is followed by the same channel as before, and that its sequence number is at the
/// same offset in the payload. It parses the message fully if the guess is wrong.
///
/// Threads: one at a time.
/// Limits: caches the digests of at most runs_kept_max runs, parts_kept_max parts in total, 6 MiB: several seconds of
/// the log. About 100 bytes per channel.
/// Failure: may throw std::bad_alloc.
class RunReader {
  public:
    static constexpr std::size_t runs_kept_max = 256;
    static constexpr std::size_t parts_kept_max = 256UL * 1024;

    explicit RunReader(const ChannelTable& channels) : channels_(channels) {}

    /// Returns the digest of a run, valid until the next call. Messages that are neither samples nor gap notices are
    /// ignored.
    [[nodiscard]] const RunDigest& read(PayloadFormat format, const LostRun& run);
    /// Returns the sample in a message; nullopt if it is not a sample.
    [[nodiscard]] std::optional<SamplePlace> sample_in(PayloadFormat format, const LostMessage& message);
    [[nodiscard]] std::size_t parts_kept() const noexcept { return parts_kept_; }

  private:
    /// The cached facts about a channel.
    struct Known {
        std::uint64_t run = 0;     // the last run that contained the channel
        std::uint32_t part = 0;    // in that run
        std::uint32_t next = 0;    // channel of the message that followed the channel's last one
        std::uint32_t seq_at = 0;  // offset in its JSON payloads; 0: unknown
    };
    struct Kept {
        PayloadFormat format{};
        std::uint64_t position = 0;
        std::size_t bytes = 0;  // 0: no digest
        RunDigest digest;
    };

    [[nodiscard]] Kept& place_of(const LostRun& run) noexcept;
    void read_into(PayloadFormat format, Bytes wire, RunDigest& digest);
    void note(const MissingSamples& missing, RunDigest& digest);
    [[nodiscard]] std::uint32_t channel_of(std::string_view topic);
    [[nodiscard]] std::optional<SeqRange> seqs_of(PayloadFormat format, std::string_view payload, Known& known);
    void look_for_channels();

    const ChannelTable& channels_;
    std::vector<Known> known_;                                      // by channel
    std::unordered_map<std::string_view, std::uint32_t> by_topic_;  // the channels of known_
    std::array<Kept, runs_kept_max> kept_;
    std::size_t parts_kept_ = 0;
    RunDigest unkept_;
    std::uint64_t runs_read_ = 0;
};

}  // namespace telegate
