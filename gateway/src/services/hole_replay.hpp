#pragma once

#include "services/history_replay.hpp"
#include "services/topic_order.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace telegate {

/// The samples of holes, in one pass over the history: from a hint on, and once more from the oldest when the hint
/// turns out to have been too late. What is not found is told with its reason: `dropped` where the samples around it
/// show that it was never published, `not_held` where that cannot be told.
/// Threads, Failure: as Replay. Limits: ServiceRequest::holes_max holes; two bytes per channel while it is at work.
class HoleReplay final : public HistoryReplay {
  public:
    struct Wanted {
        std::span<const ServiceHole> holes;
        std::uint64_t position = 0;  // the hint
        std::size_t limit = 0;
    };
    HoleReplay(ReplayParts parts, std::string out, const Wanted& wanted, TopicOrder& topics);
    [[nodiscard]] bool step() override;

  private:
    /// What is still to be found of one hole.
    struct Hole {
        std::uint64_t next;
        std::uint64_t last;
    };
    /// One channel's, in order, none of them touching another.
    struct Track {
        ChannelId channel;
        std::vector<Hole> holes;
        std::size_t open = 0;    // the first that is not done
        std::uint64_t seen = 0;  // the last seq since the pass began or missed a position; 0: none

        [[nodiscard]] bool is_done() const noexcept { return open == holes.size(); }
    };

    void begin(std::uint64_t position);
    [[nodiscard]] Track* track_of(ChannelId channel) noexcept;
    /// False when the hint was too late.
    [[nodiscard]] bool take(Track& track, const TelemetrySample& sample);
    [[nodiscard]] bool take_all(std::size_t count);
    [[nodiscard]] bool settle_ends();
    void settle(const Track& track, const Hole& hole);
    [[nodiscard]] bool is_hint_late(const Track& track) const noexcept;
    void lose(const Track& track, std::uint64_t first, std::uint64_t last);
    void note_missed() noexcept;
    bool start_over();
    bool finish();
    void add_left(std::string& out) const;

    std::vector<Track> wanted_;  // as asked for
    const std::size_t out_bytes_;
    std::vector<Track> tracks_;
    std::vector<std::uint16_t> index_;  // by channel: of its track, and one more; 0: none
    std::string gone_;
    SampleCursor cursor_;
    std::size_t tracks_open_ = 0;
    bool is_from_oldest_ = false;  // nothing before the pass is held
    bool is_from_first_ = false;   // nothing before the pass was ever published
};

/// Appends one to a list of what cannot be given.
void add_gone(std::string& out, std::string_view topic, const ServiceHole& lost, std::string_view reason);

}  // namespace telegate
