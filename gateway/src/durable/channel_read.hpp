#pragma once

#include "durable/sample_reader.hpp"

#include "core/channel_table.hpp"
#include "store/block.hpp"
#include "store/log_reader.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace telegate {

/// Samples of one channel and one run of the gateway, and the gaps before and between them.
struct ChannelPart {
    std::int64_t epoch_ms = 0;
    std::string_view unit;
    std::span<const TelemetrySample> samples;
    std::span<const store::BlockGap> gaps;
};

/// Reads one channel from the durable log and then from the history, once and in order, across runs of the gateway.
///
/// Threads: one at a time; with a log, tg-log-read.
/// Limits:  a step takes some milliseconds: it reads step_blocks_max blocks of the log, or checks step_samples_max
///          samples of the history. One block and the index of one segment in memory.
/// Failure: step() throws std::system_error if the log cannot be read, std::bad_alloc, and exceptions of `take`.
class ChannelRead {
  public:
    static constexpr std::size_t step_blocks_max = 64;
    static constexpr std::size_t step_samples_max = 65'536;

    struct Wanted {
        store::ChannelSelection selection;
        /// Starts after `since_seq` in this run, not at a time.
        std::optional<std::int64_t> epoch_ms = std::nullopt;
        std::uint64_t since_seq = 0;
        /// Otherwise: starts where the last `newest` samples of the log begin; 0: at `selection.since_ns`.
        std::uint64_t newest = 0;
    };
    /// Receives a part, and returns whether to continue.
    using Take = std::function<bool(const ChannelPart& part)>;

    ChannelRead(const SampleSources& sources, Wanted wanted, Take take);

    /// Returns whether there is more to read.
    [[nodiscard]] bool step();
    /// Returns whether the log has nothing of the wanted run.
    [[nodiscard]] bool is_epoch_unknown() const noexcept { return is_epoch_unknown_; }
    /// Returns the last sequence number that was read of this run, wanted or not; 0: none.
    [[nodiscard]] std::uint64_t last_seq() const noexcept { return last_epoch_ms_ == epoch_ms_ ? last_seq_ : 0; }

  private:
    enum class Phase : std::uint8_t { start, log, history, over };

    void start_log();
    void read_log();
    void end_log();
    void start_history(std::uint64_t position);
    void read_history();
    void add(const TelemetrySample& sample, store::GapReason reason);
    [[nodiscard]] bool deliver(store::LogBatch& batch);

    const SampleSources sources_;
    const Wanted wanted_;
    const Take take_;
    const std::int64_t epoch_ms_;             // of this run
    const std::optional<ChannelId> channel_;  // in this run
    Phase phase_ = Phase::start;
    bool is_epoch_unknown_ = false;
    std::optional<std::int64_t> last_epoch_ms_;  // of last_seq_; none: gaps before the next sample are not named
    std::uint64_t last_seq_ = 0;                 // given, or not wanted
    // The log.
    std::optional<store::LogReader> reader_;
    store::LogBatch batch_;
    std::optional<std::uint64_t> seam_;  // position in the history up to which the log was written
    // The history.
    std::uint64_t position_ = 0;
    std::uint64_t end_ = 0;
    store::GapReason hole_reason_ = store::GapReason::unknown;  // of the next samples that are missing
    std::vector<TelemetrySample> found_;
    std::vector<store::BlockGap> gaps_;
    std::array<TelemetrySample, 256> copied_{};
};

}  // namespace telegate
