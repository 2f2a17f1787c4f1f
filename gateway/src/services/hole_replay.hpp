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

/// Replays the samples of holes, in one pass over the history that starts at a hint. If the hint is too late, it makes
/// another pass from the oldest sample. Samples that are not found are reported with a reason: `dropped` if the samples
/// around them show that they were never published, `not_retained` if that is unknown. Threads, Failure: as
/// HistoryReplay. Limits: ServiceRequest::holes_max holes; two bytes per channel while it is active.
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
    /// The part of a hole that is not found yet.
    struct Hole {
        std::uint64_t next;
        std::uint64_t last;
    };
    /// The holes of one channel, in order and without overlaps.
    struct Track {
        ChannelId channel;
        std::vector<Hole> holes;
        std::size_t open = 0;    // index of the first hole that is not complete
        std::uint64_t seen = 0;  // the last sequence number since the pass began or missed a position; 0: none

        [[nodiscard]] bool is_done() const noexcept { return open == holes.size(); }
    };

    void begin(std::uint64_t position);
    [[nodiscard]] Track* track_of(ChannelId channel) noexcept;
    /// Uses a sample of the channel. Returns false if the hint was too late.
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

    std::vector<Track> wanted_;  // as requested
    const std::size_t out_bytes_;
    std::vector<Track> tracks_;
    std::vector<std::uint16_t> index_;  // by channel: index of its track plus one; 0: none
    std::string gone_;
    SampleCursor cursor_;
    std::size_t tracks_open_ = 0;
    bool is_from_oldest_ = false;  // nothing before the pass is retained
    bool is_from_first_ = false;   // nothing before the pass was ever published
};

/// Appends an entry to the list of samples that cannot be returned.
void add_gone(std::string& out, std::string_view topic, const ServiceHole& lost, std::string_view reason);

}  // namespace telegate
