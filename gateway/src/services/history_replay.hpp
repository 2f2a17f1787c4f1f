#pragma once

#include "base/topic_filter.hpp"
#include "core/channel_table.hpp"
#include "encode/sample_text.hpp"
#include "line/history.hpp"
#include "line/pump.hpp"
#include "line/sample_cursor.hpp"
#include "services/service_request.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace telegate {

/// The objects that replays use. All must outlive the replays.
struct ReplayParts {
    const History& history;
    const ChannelTable& channels;
    const Pump& pump;  // knows what is published of each channel
    SampleText& text;
};

/// A reply with samples from the history, created in steps so that live samples are sent in between.
///
/// Threads: the pump's.
/// Limits: checks step_samples samples per step; a reply of answer_bytes_max.
/// Failure: may throw std::bad_alloc.
class HistoryReplay {
  public:
    static constexpr std::size_t step_samples = 128;

    virtual ~HistoryReplay() = default;
    HistoryReplay(const HistoryReplay&) = delete;
    HistoryReplay& operator=(const HistoryReplay&) = delete;

    /// Runs one step. Returns whether the reply is complete.
    [[nodiscard]] virtual bool step() = 0;
    /// Returns the complete reply.
    [[nodiscard]] std::string take_answer() noexcept { return std::move(out_); }
    [[nodiscard]] std::size_t samples() const noexcept { return samples_; }

  protected:
    /// `out` is the beginning of the reply.
    HistoryReplay(ReplayParts parts, std::string out, std::size_t limit);

    void add(const TelemetrySample& sample);
    [[nodiscard]] bool is_full() const noexcept { return samples_ >= limit_ || out_.size() >= samples_bytes_max; }

    // The rest of the reply is reserved for the data after the samples: 1,000 requested holes and what became of them.
    static constexpr std::size_t samples_bytes_max = 512 * 1024;

    ReplayParts parts_;
    std::string out_;
    const std::size_t limit_;
    std::size_t samples_ = 0;
    std::array<TelemetrySample, step_samples> read_{};
};

/// Replays samples starting at a position. Threads, Failure: as HistoryReplay. Limits: checks looked_max samples for
/// one reply, which may then be empty.
class PositionReplay final : public HistoryReplay {
  public:
    static constexpr std::uint64_t looked_max = 262'144;

    struct Wanted {
        std::string prefix;
        std::uint64_t position = 0;
        std::size_t limit = 0;
    };
    PositionReplay(ReplayParts parts, std::string out, Wanted wanted);
    [[nodiscard]] bool step() override;

  private:
    bool finish();

    TopicFilter filter_;
    SampleCursor cursor_;
    std::uint64_t looked_ = 0;
    std::uint64_t missed_ = 0;
};

}  // namespace telegate
