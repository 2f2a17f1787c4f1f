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
};

/// How an event is written to the log.
enum class EventLogging : std::uint8_t {
    none,  // the gateway writes a line of its own, with more in it
    info,
    warning,
};

/// What is known of a kind of event: the row of the enumerator.
struct EventKindRow {
    EventKind kind;
    std::string_view name;  // in the log, in REST and in the file
    EventLogging logging = EventLogging::info;
    bool is_limited = true;  // false: never held back, because a person or the gateway's own life causes it
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
};
// clang-format on

[[nodiscard]] const EventKindRow& row_of(EventKind kind) noexcept;
[[nodiscard]] std::string_view to_string(EventKind kind) noexcept;
/// nullopt: no kind has this name.
[[nodiscard]] std::optional<EventKind> to_event_kind(std::string_view name) noexcept;

/// Something that an operator wants to find the next morning.
struct Event {
    std::int64_t time_utc_ns = 0;
    std::string device = {};   // "": about the gateway
    std::string channel = {};  // "" unless about a channel
    EventKind kind = EventKind::gateway_started;
    std::string text = {};  // the fields as in a log line: `after_s=62 reads_failed=7`; made of them when it is empty
    LogFields fields = {};
};

/// An event of the ring.
struct EventEntry {
    std::uint64_t number = 0;     // counts from 1 and continues after a restart
    std::uint64_t held_back = 0;  // events of the same source before this one that are not in the ring
    std::shared_ptr<const Event> event;
};

/// Since the start of the process.
struct EventCounts {
    std::uint64_t added = 0;        // to the ring
    std::uint64_t held_back = 0;    // because their source had too many
    std::uint64_t overwritten = 0;  // in the ring by later ones
    std::uint64_t lost = 0;         // for lack of memory
};

/// The last events: a ring that the log, `GET /events`, the channel `gateway/events` and the file of events read.
///
/// A source, which is a device or one of its channels, may have a burst of events and then so many a minute; what
/// exceeds that is held back and counted. The last event that was held back is added by settle() once the limit
/// permits, so the ring always ends with the state that a source is in.
///
/// Threads: any. A reader holds the lock only while it copies pointers, so that a sampling thread never waits long.
/// Limits:  events_max events; a text of text_bytes_max bytes, names of name_bytes_max, longer ones are cut;
///          sources_max sources are told apart, those beyond share one limit.
/// Failure: add() counts an event as lost if there is no memory for it. Functions that return a vector may throw
///          std::bad_alloc.
class EventLog {
  public:
    static constexpr std::size_t events_max = 1'000;
    static constexpr std::size_t text_bytes_max = 512;
    static constexpr std::size_t name_bytes_max = 256;
    static constexpr std::size_t sources_max = 1'024;
    static constexpr Rate per_source{.per_second = 10.0 / 60, .burst = 10};
    /// While is_settled() is false, settle() has something to do about this often.
    static constexpr std::chrono::seconds settle_interval{6};

    /// `on_news` is called after each event, on the thread that adds it, also after one that was held back.
    explicit EventLog(const Clock& clock, std::function<void()> on_news = {})
        : clock_(clock), on_news_(std::move(on_news)) {}
    EventLog(const EventLog&) = delete;
    EventLog& operator=(const EventLog&) = delete;

    void add(Event event) noexcept;
    /// There was no memory to make an event.
    void count_lost() noexcept;
    /// Adds the events that were held back last, of each source that may have events again.
    void settle() noexcept;
    [[nodiscard]] bool is_settled() const;
    /// After a run that did not stop cleanly, numbers continue so much higher: that run may have given out numbers that
    /// are not in the file, at most some thousands between two writes.
    static constexpr std::uint64_t numbers_skipped = 100'000;
    /// Puts events of an earlier run before all others; their numbers must rise. Before the first add().
    void restore(std::vector<EventEntry> entries);
    /// Up to which number the events have been published as samples of a device. The driver that replaces another one
    /// continues there. The first call for a device begins with the events that come after it.
    [[nodiscard]] std::shared_ptr<std::atomic<std::uint64_t>> published_by(const std::string& device);

    /// Events with a greater number, the oldest first.
    [[nodiscard]] std::vector<EventEntry> after(std::uint64_t number) const;
    /// Of the newest event; 0: there has been none.
    [[nodiscard]] std::uint64_t last_number() const noexcept { return last_number_.load(std::memory_order_relaxed); }
    [[nodiscard]] EventCounts counts() const;

  private:
    struct Source {
        RateLimit limit{per_source};
        std::uint64_t held_back = 0;               // since the last one that was added
        std::shared_ptr<const Event> last_held{};  // null: the last one was added
    };

    void take(Event event);
    [[nodiscard]] Source& source_of(const Event& event, MonoTime now);
    void append(std::shared_ptr<const Event> event, std::uint64_t held_back);

    const Clock& clock_;
    const std::function<void()> on_news_;
    mutable std::mutex mutex_;  // guards what follows
    std::deque<EventEntry> ring_;
    std::map<std::string, Source, std::less<>> sources_;
    std::map<std::string, std::shared_ptr<std::atomic<std::uint64_t>>, std::less<>> published_;
    EventCounts counts_;
    std::atomic<std::uint64_t> last_number_{0};
};

}  // namespace telegate
