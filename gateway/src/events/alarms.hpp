#pragma once

#include "device/processing.hpp"
#include "events/events.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace telegate {

struct Settings;

/// Who has acknowledged an alarm, and when.
struct Acknowledgement {
    std::int64_t time_utc_ns = 0;
    std::string by = {};
    std::string comment = {};  // "": none
};

/// The alarm of one channel.
struct ChannelAlarm {
    std::string device = {};
    std::string channel = {};  // whose values are watched
    AlarmState state = AlarmState::unknown;
    Quality quality = Quality::bad;                    // bad: at present the channel has no value
    double value = 0.0;                                // when it was last reported
    std::optional<double> limit = {};                  // that is crossed, while the alarm is active
    std::int64_t since_utc_ns = 0;                     // when it entered `state`
    std::optional<Acknowledgement> acknowledged = {};  // of the active alarm

    [[nodiscard]] bool is_active() const noexcept { return state == AlarmState::high || state == AlarmState::low; }
};

/// The alarms of all channels: their states, who has acknowledged them, and an event each time that one is raised,
/// cleared or acknowledged.
///
/// Threads: any.
/// Limits:  one alarm per channel, of which the channel table limits the number; a comment of comment_bytes_max bytes.
/// Failure: note() counts a lost event if there is no memory; the next report of the alarm corrects its state. The
///          others throw std::bad_alloc.
class Alarms {
  public:
    static constexpr std::size_t comment_bytes_max = 256;

    /// `is_measuring` says whether a device is read; while it is not, the quality of its alarms is bad. Empty: all are.
    explicit Alarms(EventLog& events, std::function<bool(std::string_view device)> is_measuring = {})
        : events_(events), is_measuring_(std::move(is_measuring)) {}
    Alarms(const Alarms&) = delete;
    Alarms& operator=(const Alarms&) = delete;

    /// What the previous run has left. A state normal counts as unknown if its quality was not good, or if
    /// the run did not stop cleanly, because the newest changes may be missing then.
    void restore(std::vector<ChannelAlarm> alarms, bool was_clean);
    void note(const AlarmNews& news) noexcept;
    /// Has the alarms of a device begin with the states that are known.
    void continue_in(ProcessingPlan& plan, std::string_view device) const;
    /// Forgets alarms that the settings do not have.
    void retain(const Settings& settings);

    /// In the order of device and channel.
    [[nodiscard]] std::vector<ChannelAlarm> all() const;
    /// unknown also if there is no such alarm.
    [[nodiscard]] AlarmState state_of(std::string_view device, std::string_view channel) const;

    enum class Acknowledging : std::uint8_t { done, already, not_active, no_alarm };
    /// Acknowledges an active alarm until it is cleared or changes its level.
    Acknowledging acknowledge(std::string_view device, std::string_view channel, Acknowledgement acknowledgement);

  private:
    void take(const AlarmNews& news);

    EventLog& events_;
    const std::function<bool(std::string_view device)> is_measuring_;
    mutable std::mutex mutex_;  // guards what follows
    std::map<std::string, ChannelAlarm, std::less<>> by_topic_;
};

}  // namespace telegate
