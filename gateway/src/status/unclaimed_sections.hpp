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
    std::string nearest;     // the topic of the channel that was probably meant, or ""
    std::size_t others = 0;  // that became unclaimed as well and are too many to be told one by one
};

/// Finds the [channel] sections that no channel has claimed, mostly because their name is misspelled.
///
/// A section is unclaimed when its device has been measuring for wait_min and has no channel of its name. While the
/// device is not measuring the wait starts again, so a device that cannot be read is not taken for a wrong name. An
/// unclaimed section stays so until there is a channel of its name.
///
/// Threads: the constructor and the timer the reactor's; all else any.
/// Limits:  the sections of the settings. The timer rings every look_interval while a section waits. A look tells of
///          told_max sections, and compares each with the first advice_names_max channels of its device.
/// Failure: std::bad_alloc; the next look continues.
class UnclaimedSections {
  public:
    static constexpr std::chrono::seconds wait_min{60};
    /// How much later than after wait_min a section may be reported.
    static constexpr std::chrono::seconds look_interval{10};
    /// So that a look takes some milliseconds at most, and the log stays readable.
    static constexpr std::size_t told_max = 20;
    static constexpr std::size_t advice_names_max = 256;

    struct Parts {
        Reactor& reactor;
        const Clock& clock;
        const ChannelTable& channels;
        std::function<bool(std::string_view device)> is_measuring;
        /// Called once for each section that has become unclaimed, on the thread that looks.
        std::function<void(const UnclaimedSection& section)> on_unclaimed;
    };
    explicit UnclaimedSections(Parts parts);
    UnclaimedSections(const UnclaimedSections&) = delete;
    UnclaimedSections& operator=(const UnclaimedSections&) = delete;

    /// Replaces the sections. Those that are unclaimed stay so, all others wait from now.
    void watch(const std::vector<ChannelSettings>& sections);
    /// Checks each section that waits. Returns whether one still does.
    bool look();
    /// Returns the topics of those that are unclaimed now, in the order of the settings.
    [[nodiscard]] std::vector<std::string> unclaimed() const;

  private:
    enum class State : std::uint8_t { waiting, claimed, unclaimed };
    struct Section {
        std::string topic;
        State state = State::waiting;
        MonoTime since{};  // waiting: when its wait began
    };

    void look_later();
    [[nodiscard]] bool becomes_unclaimed(Section& section, MonoTime now) const;
    [[nodiscard]] bool has_channel(const std::string& topic) const;
    [[nodiscard]] std::string nearest_to(const std::string& topic) const;

    const Parts parts_;
    mutable std::mutex mutex_;  // guards sections_
    std::vector<Section> sections_;
    Alarm timer_;
};

}  // namespace telegate
