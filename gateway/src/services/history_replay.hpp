#pragma once

#include "durable/sample_reader.hpp"
#include "line/pump.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

namespace telegate {

/// The objects that replays use. All must outlive the replays.
struct ReplayParts {
    SampleSources sources;
    const Pump& pump;            // knows the last published sample of each channel
    std::function<void()> wake;  // called on tg-log-read when a replay that waits can continue
    /// Returns the reply if the log has no data from the epoch.
    std::function<std::string()> unknown_epoch;
};

/// A reply with samples from the history and the durable log, created in steps so that live samples are sent in
/// between.
///
/// Threads: the pump's.
/// Limits: adds step_samples samples per step; a reply of answer_bytes_max.
/// Failure: may throw std::bad_alloc.
class HistoryReplay {
  public:
    static constexpr std::size_t step_samples = 128;
    enum class Step : std::uint8_t { more, waiting, done };

    virtual ~HistoryReplay() = default;
    HistoryReplay(const HistoryReplay&) = delete;
    HistoryReplay& operator=(const HistoryReplay&) = delete;

    /// Runs one step. If the result is Step::waiting, repeat it after `wake` was called.
    [[nodiscard]] virtual Step step() = 0;
    /// Returns the complete reply.
    [[nodiscard]] std::string take_answer() noexcept { return std::move(out_); }
    [[nodiscard]] std::size_t samples() const noexcept { return samples_; }

  protected:
    /// `out` is the beginning of the reply.
    HistoryReplay(ReplayParts parts, std::string out, std::size_t limit);

    /// Adds a sample of the page.
    void add(const TelemetrySample& sample);
    [[nodiscard]] bool is_full() const noexcept { return samples_ >= limit_ || out_.size() >= samples_bytes_max; }

    // The rest of the reply is reserved for the data after the samples: 1,000 requested holes and what became of them.
    static constexpr std::size_t samples_bytes_max = 512 * 1024;

    const ReplayParts parts_;
    std::string out_;
    const std::size_t limit_;
    std::size_t samples_ = 0;
    SamplePage page_;
    std::size_t next_ = 0;  // sample of the page
};

/// Replays samples starting at a position or time. Threads, Failure: as HistoryReplay. Limits: passes looked_max
/// positions for one reply, which may then be empty.
class PositionReplay final : public HistoryReplay {
  public:
    static constexpr std::uint64_t scanned_max = 262'144;

    struct Wanted {
        std::string prefix;  // of topics
        SampleReader::Start start;
        std::size_t limit;  // samples
    };

    PositionReplay(const ReplayParts& parts, std::string out, const Wanted& wanted);
    [[nodiscard]] Step step() override;

  private:
    [[nodiscard]] Step finish(std::uint64_t position, bool is_end);

    SampleReader reader_;
    std::uint64_t scanned_ = 0;
    std::uint64_t missed_ = 0;  // before the page
    bool is_end_known_ = true;  // of an earlier epoch
};

}  // namespace telegate
