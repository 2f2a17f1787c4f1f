#pragma once

#include "events/events.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace telegate {

/// Above what a full ring takes when every character of its texts is escaped.
inline constexpr std::size_t events_bytes_max = 16 * 1024 * 1024;

/// The line of an event in the log: "device recovered device=plc after_s=62 reads_failed=7". Threads: any.
[[nodiscard]] LogLine event_line(const EventEntry& entry);

/// One event as a JSON object, in GET /events and in the file of events. Threads: any.
[[nodiscard]] std::string event_json(const EventEntry& entry);

/// The file of events: JSON, one event per line. Threads: any.
[[nodiscard]] std::string events_file_text(const std::vector<EventEntry>& entries);
/// The events of a file, or what is wrong with it and where. Kinds that are not known, as a newer version may have
/// written, are left out. Pure. Threads: any.
[[nodiscard]] std::variant<std::vector<EventEntry>, std::string> read_events(std::string_view text);

}  // namespace telegate
