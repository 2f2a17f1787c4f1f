#pragma once

#include "config/payload_format.hpp"
#include "core/delivery.hpp"
#include "core/sample_range.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace telegate {

/// A sample, identified by channel and sequence number; seq 0: none.
struct SamplePlace {
    ChannelId channel{};
    std::uint64_t seq = 0;
};

/// The samples of a lost run. Consecutive samples of a channel form one part, at the position of the first one.
struct RunDigest {
    std::vector<SampleRange> parts;
    SamplePlace first;
    SamplePlace last;
};

/// Summarizes the samples of lost runs. A run that many subscribers lose is summarized only once.
///
/// Threads: one at a time.
/// Limits: caches the digests of at most runs_kept_max runs, parts_kept_max parts in total, 6 MiB: several seconds of
/// the log. 16 bytes per channel.
/// Failure: may throw std::bad_alloc.
class RunReader {
  public:
    static constexpr std::size_t runs_kept_max = 256;
    static constexpr std::size_t parts_kept_max = 256UL * 1024;

    /// Returns the digest of a run, valid until the next call.
    [[nodiscard]] const RunDigest& read(PayloadFormat format, const LostRun& run);
    [[nodiscard]] std::size_t parts_kept() const noexcept { return parts_kept_; }

  private:
    /// The last run that contained a channel, and the channel's last part there.
    struct Known {
        std::uint64_t run = 0;
        std::size_t part = 0;
    };
    struct Kept {
        PayloadFormat format{};
        std::uint64_t position = 0;
        std::size_t bytes = 0;  // 0: no digest
        RunDigest digest;
    };

    [[nodiscard]] Kept& place_of(const LostRun& run) noexcept;
    void read_into(std::span<const LoggedSamples> newest_first, RunDigest& digest);
    void record(const SampleRange& missing, RunDigest& digest);

    std::vector<Known> known_;  // by channel
    std::array<Kept, runs_kept_max> kept_;
    std::size_t parts_kept_ = 0;
    RunDigest unkept_;
    std::uint64_t runs_read_ = 0;
};

}  // namespace telegate
