#pragma once

#include "device/processing.hpp"
#include "events/events.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace telegate {

struct Settings;

/// The acknowledgment of an alarm.
struct Acknowledgment {
    std::int64_t time_utc_ns = 0;
    std::string by = {};
    std::string comment = {};  // "": none
};

/// The alarm of one channel.
struct ChannelAlarm {
    std::string device = {};
    std::string channel = {};  // the monitored channel
    AlarmState state = AlarmState::unknown;
    Quality quality = Quality::bad;                   // bad: the channel currently has no value
    double value = 0.0;                               // as of the last report
    std::optional<double> limit = {};                 // the crossed limit, while the alarm is active
    std::int64_t since_utc_ns = 0;                    // start of `state`
    std::optional<Acknowledgment> acknowledged = {};  // of the active alarm

    [[nodiscard]] bool is_active() const noexcept { return state == AlarmState::high || state == AlarmState::low; }
};

/// The alarms of all channels: their states, their acknowledgments, and an event each time one is raised, cleared or
/// acknowledged.
///
/// Threads: any.
/// Limits: one alarm per channel in the settings of retain(); the channel table limits the number of channels. A
/// comment has at most comment_bytes_max bytes. Failure: none.
class Alarms {
  public:
    static constexpr std::size_t comment_bytes_max = 256;

    /// `is_measuring` returns whether a device is read; while it is not, the quality of its alarms is bad. Empty: all
    /// devices are read.
    explicit Alarms(EventLog& events, std::function<bool(std::string_view device)> is_measuring = {})
        : events_(events), is_measuring_(std::move(is_measuring)) {}
    Alarms(const Alarms&) = delete;
    Alarms& operator=(const Alarms&) = delete;

    /// Restores the alarms of the previous run. A normal state becomes unknown if its quality was not good, or if the
    /// run did not stop cleanly and so may not have saved the newest changes.
    void restore(std::vector<ChannelAlarm> alarms, bool was_clean);
    void record(const AlarmNews& news) noexcept;
    /// Sets the known states as the initial alarm states of a device.
    void continue_in(ProcessingPlan& plan, std::string_view device) const;
    /// Also accepts reports of the alarms in these settings, whose devices may start at any time from now on.
    void expect(const Settings& settings);
    /// Removes alarms that are not in the settings, and ignores reports of them from now on: the last reading of a
    /// device whose settings have changed may end later.
    void retain(const Settings& settings);

    /// Returns all alarms, ordered by device and channel.
    [[nodiscard]] std::vector<ChannelAlarm> all() const;
    /// Returns the state of an alarm; unknown if it does not exist.
    [[nodiscard]] AlarmState state_of(std::string_view device, std::string_view channel) const;

    enum class Acknowledging : std::uint8_t { done, already, not_active, no_alarm };
    /// Acknowledges an active alarm until it is cleared or its level changes.
    Acknowledging acknowledge(std::string_view device, std::string_view channel, Acknowledgment acknowledgment);

  private:
    using Topics = std::set<std::string, std::less<>>;

    [[nodiscard]] static Topics topics_in(const Settings& settings);

    EventLog& events_;
    const std::function<bool(std::string_view device)> is_measuring_;
    mutable std::mutex mutex_;  // guards the members below
    std::map<std::string, ChannelAlarm, std::less<>> by_topic_;
    std::optional<Topics> expected_;  // topics of the alarms in the settings; nullopt: all
};

}  // namespace telegate
