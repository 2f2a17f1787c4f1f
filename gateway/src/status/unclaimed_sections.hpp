#pragma once

#include "config/settings.hpp"
#include "core/channel_table.hpp"
#include "core/clock.hpp"
#include "core/reactor.hpp"
#include "core/watch.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace telegate {

/// A section that has become unclaimed.
struct UnclaimedSection {
    std::string topic;
    std::string nearest;  // the topic of the channel that was probably meant, or ""
    // number of further sections that became unclaimed at the same time and are not reported individually
    std::size_t others = 0;
};

/// Finds the [channel] sections that no channel has claimed, mostly because their name is misspelled.
///
/// A section is unclaimed if its device has been measuring for wait_min and has no channel of that name. While the
/// device is not measuring, the wait restarts, so an unreadable device does not cause a report. An unclaimed section
/// stays unclaimed until there is a channel of its name.
///
/// Threads: the constructor and the timer the reactor's; all else any.
/// Limits: the sections of the settings. The timer fires every look_interval while a section waits. A check reports at
/// most reported_max sections, and compares each with the first advice_names_max channels of its device.
/// Failure: std::bad_alloc; the next check continues.
class UnclaimedSections {
  public:
    static constexpr std::chrono::seconds wait_min{60};
    /// The maximum delay of a report after wait_min.
    static constexpr std::chrono::seconds check_interval{10};
    /// Limit a check to a few milliseconds and keep the log readable.
    static constexpr std::size_t reported_max = 20;
    static constexpr std::size_t advice_names_max = 256;

    struct Parts {
        Reactor& reactor;
        const Clock& clock;
        const ChannelTable& channels;
        std::function<bool(std::string_view device)> is_measuring;
        /// Called once for each section that has become unclaimed, on the thread that runs the check.
        std::function<void(const UnclaimedSection& section)> on_unclaimed;
    };
    explicit UnclaimedSections(Parts parts);
    UnclaimedSections(const UnclaimedSections&) = delete;
    UnclaimedSections& operator=(const UnclaimedSections&) = delete;

    /// Replaces the sections. Unclaimed sections stay unclaimed, all others start to wait.
    void watch(const std::vector<ChannelSettings>& sections);
    /// Checks all waiting sections. Returns whether any is still waiting.
    bool check();
    /// Returns the topics of the sections that are currently unclaimed, in the order of the settings.
    [[nodiscard]] std::vector<std::string> unclaimed() const;

  private:
    enum class State : std::uint8_t { waiting, claimed, unclaimed };
    struct Section {
        std::string topic;
        State state = State::waiting;
        MonoTime since{};  // waiting: when its wait began
    };

    void schedule_check();
    [[nodiscard]] bool becomes_unclaimed(Section& section, MonoTime now) const;
    [[nodiscard]] bool has_channel(const std::string& topic) const;
    [[nodiscard]] std::string nearest_to(const std::string& topic) const;

    const Parts parts_;
    mutable std::mutex mutex_;  // guards sections_
    std::vector<Section> sections_;
    Alarm timer_;
};

}  // namespace telegate
