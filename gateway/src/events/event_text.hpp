#pragma once

#include "events/events.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace telegate {

class JsonObject;

/// Larger than a full ring with every character escaped.
inline constexpr std::size_t events_bytes_max = 16 * 1024 * 1024;

/// Returns the log line of an event: "device recovered device=plc after_s=62 reads_failed=7". Threads: any.
[[nodiscard]] LogLine event_line(const EventEntry& entry);

/// Adds the members of an event. Threads: any.
void list_event(JsonObject& out, const EventEntry& entry);
/// Returns an event as the JSON object used in GET /events and in the event file. Threads: any.
[[nodiscard]] std::string event_json(const EventEntry& entry);

/// Returns the contents of the event file: JSON, one event per line. Threads: any.
[[nodiscard]] std::string events_file_text(const std::vector<EventEntry>& entries);
/// Parses an event file; returns the error text with its location if it is invalid. Events of unknown kinds, from a
/// newer version, are ignored. Pure. Threads: any.
[[nodiscard]] std::variant<std::vector<EventEntry>, std::string> read_events(std::string_view text);

}  // namespace telegate
