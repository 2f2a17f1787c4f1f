#pragma once

#include "base/topic_order.hpp"
#include "services/history_replay.hpp"
#include "services/service_request.hpp"
#include "state/previous_runs_state.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace telegate {

/// Replays the samples of holes. Those of this epoch are looked for in the history, in one pass that starts at a hint,
/// or, if the hint is too late, in another one that starts at the oldest sample. If that does not find everything, and
/// for an earlier epoch, the durable log is read, if there is one.
///
/// Samples that are not found are reported with a reason: `dropped` if the samples around them show that they were
/// never published, the reason in the log, or `not_retained`. Threads, Failure: as HistoryReplay. Limits:
/// ServiceRequest::holes_max holes; two bytes per channel while it is active.
class HoleReplay final : public HistoryReplay {
  public:
    struct Wanted {
        std::span<const ServiceHole> holes;
        std::uint64_t position = 0;  // the hint
        std::size_t limit = 0;
        std::optional<std::int64_t> past_epoch_ms = std::nullopt;  // an earlier epoch; then there must be a log
        const PastEpoch* past = nullptr;                           // if the state file has it
    };
    HoleReplay(const ReplayParts& parts, std::string out, const Wanted& wanted, TopicOrder& topics);
    [[nodiscard]] Step step() override;

  private:
    /// The part of a hole that is not found yet.
    struct Hole {
        std::uint64_t next;
        std::uint64_t last;
    };
    /// The holes of one topic, in order and without overlaps.
    struct Track {
        std::string topic;
        std::vector<Hole> holes;
        std::size_t open = 0;    // index of the first hole that is not complete
        std::uint64_t seen = 0;  // the last sequence number since the pass began or missed a position; 0: none

        [[nodiscard]] bool is_done() const noexcept { return open == holes.size(); }
    };
    /// The numbers of a topic that were published in the epoch, and those that were published or dropped.
    struct Reached {
        std::uint64_t published = 0;
        std::uint64_t all = 0;
    };
    enum class Pass : std::uint8_t { from_hint, from_oldest, in_log };

    static constexpr std::uint16_t place_unknown = 0;
    static constexpr std::uint16_t place_none = 1;
    static constexpr std::uint16_t place_first = 2;

    void begin(Pass pass, std::uint64_t position);
    [[nodiscard]] Step begin_again();
    [[nodiscard]] std::optional<Pass> next_pass() const noexcept;
    [[nodiscard]] Track* track_of(ChannelId channel);
    template <class Use>
    void fill(Track& track, std::uint64_t first_seq, std::uint64_t last_seq, const Use& use);
    void fill(const store::LogGap& gap);
    void fill(const TelemetrySample& sample);
    void read_some();
    [[nodiscard]] Step settle_ends(SampleReader::Result end);
    void settle(const Track& track, const Hole& hole);
    void settle_past(const Track& track, const Hole& hole, SampleReader::Result end);
    [[nodiscard]] Reached reached(const Track& track) const;
    [[nodiscard]] bool covers_start(const Track& track) const;
    void lose(const Track& track, std::uint64_t first, std::uint64_t last);
    void record_missed() noexcept;
    [[nodiscard]] Step finish();
    void add_left(std::string& out) const;
    [[nodiscard]] bool is_over() const noexcept {
        return tracks_open_ == 0 || is_full() || gone_.size() >= samples_bytes_max / 2;
    }

    const PastEpoch* const past_;
    const std::int64_t epoch_ms_;
    TopicOrder& topics_;
    std::vector<Track> wanted_;  // as requested, by topic
    const std::size_t out_bytes_;
    Pass pass_ = Pass::from_hint;
    std::optional<SampleReader> reader_;
    std::vector<Track> tracks_;
    std::vector<std::uint16_t> index_;      // by channel: one of the places, or place_first plus the index of a track
    const SampleText* index_of_ = nullptr;  // whose channels these are
    std::string gone_;
    std::size_t next_gap_ = 0;  // of the page
    std::size_t tracks_open_ = 0;
    bool is_from_first_ = false;  // nothing before the pass was ever published, as far as it has the topic
    bool needs_more_ = false;     // samples were not found that another pass may find
    bool is_end_known_ = true;    // of an earlier epoch
};

/// Appends an entry to the list of samples that cannot be returned.
void add_gone(std::string& out, std::string_view topic, const ServiceHole& lost, std::string_view reason);

}  // namespace telegate
