#pragma once

#include "base/rate_limit.hpp"
#include "core/clock.hpp"
#include "log/log_line.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace telegate {

enum class EventKind : std::uint8_t {
    gateway_started,
    gateway_stopped,
    device_failed,
    device_recovered,
    device_safe,
    device_started,
    device_stopped,
    device_reset,
    device_added,
    device_changed,
    device_removed,
    breaker_opened,
    breaker_closed,
    alarm_raised,
    alarm_cleared,
    alarm_acknowledged,
    log_space_lacking,
    log_space_regained,
};

/// How an event is written to the log.
enum class EventLogging : std::uint8_t {
    none,  // the gateway writes its own, more detailed line
    info,
    warning,
};

/// The properties of a kind of event; rows are in the order of the enumerators.
struct EventKindRow {
    EventKind kind;
    std::string_view name;  // in the log, in REST and in the event file
    EventLogging logging = EventLogging::info;
    bool is_limited = true;  // false: never suppressed, because a person or the gateway itself causes it
};

// clang-format off
inline constexpr std::array event_kinds{
    EventKindRow{.kind = EventKind::gateway_started,    .name = "gateway started",    .logging = EventLogging::none, .is_limited = false},
    EventKindRow{.kind = EventKind::gateway_stopped,    .name = "gateway stopped",    .logging = EventLogging::none, .is_limited = false},
    EventKindRow{.kind = EventKind::device_failed,      .name = "device failed",      .logging = EventLogging::warning},
    EventKindRow{.kind = EventKind::device_recovered,   .name = "device recovered"},
    EventKindRow{.kind = EventKind::device_safe,        .name = "device safe",        .logging = EventLogging::warning},
    EventKindRow{.kind = EventKind::device_started,     .name = "device started",     .logging = EventLogging::none},
    EventKindRow{.kind = EventKind::device_stopped,     .name = "device stopped",     .logging = EventLogging::none},
    EventKindRow{.kind = EventKind::device_reset,       .name = "device reset",       .logging = EventLogging::none},
    EventKindRow{.kind = EventKind::device_added,       .name = "device added"},
    EventKindRow{.kind = EventKind::device_changed,     .name = "device changed"},
    EventKindRow{.kind = EventKind::device_removed,     .name = "device removed"},
    EventKindRow{.kind = EventKind::breaker_opened,     .name = "breaker opened",     .logging = EventLogging::warning},
    EventKindRow{.kind = EventKind::breaker_closed,     .name = "breaker closed"},
    EventKindRow{.kind = EventKind::alarm_raised,       .name = "alarm raised",       .logging = EventLogging::warning},
    EventKindRow{.kind = EventKind::alarm_cleared,      .name = "alarm cleared"},
    EventKindRow{.kind = EventKind::alarm_acknowledged, .name = "alarm acknowledged", .is_limited = false},
    EventKindRow{.kind = EventKind::log_space_lacking,  .name = "log lacks disk space", .logging = EventLogging::warning},
    EventKindRow{.kind = EventKind::log_space_regained, .name = "log has disk space"},
};
// clang-format on

[[nodiscard]] const EventKindRow& row_of(EventKind kind) noexcept;
[[nodiscard]] std::string_view to_string(EventKind kind) noexcept;
/// Returns the kind with this name; nullopt: none.
[[nodiscard]] std::optional<EventKind> to_event_kind(std::string_view name) noexcept;

/// Something that an operator may need to find later.
struct Event {
    std::int64_t time_utc_ns = 0;
    std::string device = {};   // "": about the gateway
    std::string channel = {};  // "": not about a channel
    EventKind kind = EventKind::gateway_started;
    std::string text = {};  // `after_s=62 reads_failed=7`; if empty, add() sets it from `fields`
    LogFields fields = {};
};

/// An event in the ring.
struct EventEntry {
    std::uint64_t number = 0;      // counts from 1 and continues after a restart
    std::uint64_t suppressed = 0;  // suppressed events of the same source before this one
    std::shared_ptr<const Event> event;
};

/// Counts since the start of the process.
struct EventCounts {
    std::uint64_t added = 0;        // to the ring
    std::uint64_t suppressed = 0;   // because their source exceeded its rate limit
    std::uint64_t overwritten = 0;  // by newer events in the ring
};

/// The most recent events, in a ring that is read by the log, `GET /events`, the channel `gateway/events` and the event
/// file.
///
/// A source is a device or one of its channels. Each source has a rate limit: a burst, then a number of events per
/// minute; events beyond that are suppressed and counted. settle() adds the last suppressed event as soon as the limit
/// permits, so the ring always ends with the current state of a source.
///
/// Threads: any. A reader holds the lock only while it copies pointers, so a sampling thread never waits long.
/// Limits: events_max events; texts of text_bytes_max bytes and names of name_bytes_max bytes, longer ones are
/// truncated; sources_max sources have separate limits, further sources share one.
/// Failure: none.
class EventLog {
  public:
    static constexpr std::size_t events_max = 1'000;
    static constexpr std::size_t text_bytes_max = 512;
    static constexpr std::size_t name_bytes_max = 256;
    static constexpr std::size_t sources_max = 1'024;
    static constexpr Rate per_source{.per_second = 10.0 / 60, .burst = 10};
    /// How often to call settle() while is_settled() is false.
    static constexpr std::chrono::seconds settle_interval{6};

    /// `on_news` is called after each event, including a suppressed one, on the thread that adds it.
    explicit EventLog(const Clock& clock, std::function<void()> on_news = {})
        : clock_(clock), on_news_(std::move(on_news)) {}
    EventLog(const EventLog&) = delete;
    EventLog& operator=(const EventLog&) = delete;

    void add(Event event) noexcept;
    /// Adds the last suppressed event of each source whose limit permits it.
    void settle() noexcept;
    [[nodiscard]] bool is_settled() const;
    /// Numbers skipped after a run that did not stop cleanly, because it may have assigned numbers that are not in the
    /// file: at most a few thousand between two writes.
    static constexpr std::uint64_t numbers_skipped = 100'000;
    /// Restores the events of an earlier run, with increasing numbers, before the first add().
    void restore(std::vector<EventEntry> entries);
    /// Returns the number of the last event that was published as a sample of the device, shared with a driver that
    /// replaces the current one. The first call for a device starts with the events added after it.
    [[nodiscard]] std::shared_ptr<std::atomic<std::uint64_t>> published_by(const std::string& device);

    /// Returns the events with a greater number, the oldest first.
    [[nodiscard]] std::vector<EventEntry> after(std::uint64_t number) const;
    /// Returns the number of the newest event; 0: none yet.
    [[nodiscard]] std::uint64_t last_number() const noexcept { return last_number_.load(std::memory_order_relaxed); }
    [[nodiscard]] EventCounts counts() const;

  private:
    struct Source {
        RateLimit limit{per_source};
        std::uint64_t suppressed = 0;              // since the last added event
        std::shared_ptr<const Event> last_held{};  // the last suppressed event; null: the last event was added
    };

    void store(Event event);
    [[nodiscard]] Source& source_of(const Event& event, MonoTime now);
    void append(std::shared_ptr<const Event> event, std::uint64_t suppressed);

    const Clock& clock_;
    const std::function<void()> on_news_;
    mutable std::mutex mutex_;  // guards the members below
    std::deque<EventEntry> ring_;
    std::map<std::string, Source, std::less<>> sources_;
    std::map<std::string, std::shared_ptr<std::atomic<std::uint64_t>>, std::less<>> published_;
    EventCounts counts_;
    std::atomic<std::uint64_t> last_number_{0};
};

}  // namespace telegate
