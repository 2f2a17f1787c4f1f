#include "events/events.hpp"

#include "core/assert.hpp"
#include "core/utf8.hpp"

#include <algorithm>
#include <iterator>

namespace telegate {
namespace {

constexpr bool rows_are_in_order() {
    for (std::size_t i = 0; i < event_kinds.size(); ++i) {
        if (static_cast<std::size_t>(event_kinds[i].kind) != i) {
            return false;
        }
    }
    return true;
}
static_assert(rows_are_in_order(), "row_of() indexes the table by the number of the kind");

/// After this time without events, a source is like a new one.
constexpr Duration time_to_refill = std::chrono::seconds(60);
static_assert(EventLog::per_source.burst / EventLog::per_source.per_second <= 60.0);

}  // namespace

const EventKindRow& row_of(EventKind kind) noexcept {
    return event_kinds[static_cast<std::size_t>(kind)];
}

std::string_view to_string(EventKind kind) noexcept {
    return row_of(kind).name;
}

std::optional<EventKind> to_event_kind(std::string_view name) noexcept {
    const auto* const row = std::find_if(event_kinds.begin(), event_kinds.end(),
                                         [name](const EventKindRow& each) { return each.name == name; });
    return row == event_kinds.end() ? std::nullopt : std::optional(row->kind);
}

void EventLog::add(Event event) noexcept {
    store(std::move(event));
    if (on_news_) {
        on_news_();
    }
}

void EventLog::store(Event event) {
    if (event.text.empty()) {
        event.text = event.fields.text();
    }
    event.text.resize(whole_characters_bytes(event.text, text_bytes_max));
    event.device.resize(whole_characters_bytes(event.device, name_bytes_max));
    event.channel.resize(whole_characters_bytes(event.channel, name_bytes_max));
    const auto shared = std::make_shared<const Event>(std::move(event));
    const MonoTime now = clock_.mono_now();
    const std::lock_guard lock(mutex_);
    if (!row_of(shared->kind).is_limited) {
        return append(shared, 0);
    }
    Source& source = source_of(*shared, now);
    if (source.limit.try_acquire(now)) {
        append(shared, source.suppressed);
        source.suppressed = 0;
        source.last_held = nullptr;
        return;
    }
    ++source.suppressed;
    ++counts_.suppressed;
    source.last_held = shared;
}

EventLog::Source& EventLog::source_of(const Event& event, MonoTime now) {
    const std::string key = event.channel.empty() ? event.device : event.device + '/' + event.channel;
    if (const auto known = sources_.find(key); known != sources_.end()) {
        return known->second;
    }
    if (sources_.size() >= sources_max - 1) {
        std::erase_if(sources_, [now](const auto& each) {
            return each.second.last_held == nullptr && now - each.second.limit.used_at() >= time_to_refill;
        });
    }
    return sources_[sources_.size() < sources_max - 1 ? key : std::string()];
}

void EventLog::append(std::shared_ptr<const Event> event, std::uint64_t suppressed) {
    const std::uint64_t number = last_number_.load(std::memory_order_relaxed) + 1;
    ring_.push_back({number, suppressed, std::move(event)});
    last_number_.store(number, std::memory_order_relaxed);
    ++counts_.added;
    if (ring_.size() > events_max) {
        ring_.pop_front();
        ++counts_.overwritten;
    }
}

void EventLog::settle() noexcept {
    const MonoTime now = clock_.mono_now();
    const std::lock_guard lock(mutex_);
    for (auto& [key, source] : sources_) {
        if (source.last_held != nullptr && source.limit.try_acquire(now)) {
            append(source.last_held, source.suppressed - 1);
            --counts_.suppressed;
            source.suppressed = 0;
            source.last_held = nullptr;
        }
    }
}

bool EventLog::is_settled() const {
    const std::lock_guard lock(mutex_);
    return std::none_of(sources_.begin(), sources_.end(),
                        [](const auto& each) { return each.second.last_held != nullptr; });
}

void EventLog::restore(std::vector<EventEntry> entries) {
    const std::lock_guard lock(mutex_);
    TELEGATE_ASSERT(ring_.empty());
    const std::size_t skipped = entries.size() - std::min(entries.size(), events_max);
    ring_.assign(std::make_move_iterator(entries.begin() + static_cast<std::ptrdiff_t>(skipped)),
                 std::make_move_iterator(entries.end()));
    if (!ring_.empty()) {
        const bool was_clean = ring_.back().event->kind == EventKind::gateway_stopped;
        last_number_.store(ring_.back().number + (was_clean ? 0 : numbers_skipped), std::memory_order_relaxed);
    }
}

std::shared_ptr<std::atomic<std::uint64_t>> EventLog::published_by(const std::string& device) {
    const std::lock_guard lock(mutex_);
    auto& published = published_[device];
    if (published == nullptr) {
        published = std::make_shared<std::atomic<std::uint64_t>>(last_number());
    }
    return published;
}

std::vector<EventEntry> EventLog::after(std::uint64_t number) const {
    std::vector<EventEntry> entries;
    const std::lock_guard lock(mutex_);
    const auto first =
        std::lower_bound(ring_.begin(), ring_.end(), number + 1,
                         [](const EventEntry& each, std::uint64_t wanted) { return each.number < wanted; });
    entries.assign(first, ring_.end());
    return entries;
}

EventCounts EventLog::counts() const {
    const std::lock_guard lock(mutex_);
    return counts_;
}

}  // namespace telegate
