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

/// A sample by its number; seq 0: none.
struct SamplePlace {
    ChannelId channel{};
    std::uint64_t seq = 0;
};

/// Samples of a channel that are missing.
struct MissingSamples {
    SeqRange seqs;
    ChannelId channel{};
};

/// What is missing without a run of messages: those of a channel that follow each other are one part, which stands
/// where its first one did.
struct RunDigest {
    std::vector<MissingSamples> parts;
    SamplePlace first;
    SamplePlace last;
};

/// Reads which samples lost messages held. A run that many subscribers lose is read for the first of them.
///
/// What comes next is most often what came next the last time, with its seq at the same place of the payload; the slow
/// way is gone where it is not.
///
/// Threads: one.
/// Limits:  keeps the digests of at most runs_kept_max runs, parts_kept_max parts in all, 6 MiB: several seconds of the
///          log. Per channel some 100 bytes.
/// Failure: may throw std::bad_alloc.
class RunReader {
  public:
    static constexpr std::size_t runs_kept_max = 256;
    static constexpr std::size_t parts_kept_max = 256UL * 1024;

    explicit RunReader(const ChannelTable& channels) : channels_(channels) {}

    /// Valid until the next call. What is no sample of ours, nor a notice of a gap, is left out.
    [[nodiscard]] const RunDigest& read(PayloadFormat format, const LostRun& run);
    [[nodiscard]] std::size_t parts_kept() const noexcept { return parts_kept_; }

  private:
    /// What is known of a channel.
    struct Known {
        std::uint64_t run = 0;     // the last one that it was in
        std::uint32_t part = 0;    // there
        std::uint32_t next = 0;    // channel of the message behind its last one
        std::uint32_t seq_at = 0;  // in its JSON payloads; 0: not seen yet
    };
    struct Kept {
        PayloadFormat format{};
        std::uint64_t position = 0;
        std::size_t bytes = 0;  // 0: none
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
    std::unordered_map<std::string_view, std::uint32_t> by_topic_;  // those of known_
    std::array<Kept, runs_kept_max> kept_;
    std::size_t parts_kept_ = 0;
    RunDigest unkept_;
    std::uint64_t runs_read_ = 0;
};

}  // namespace telegate
