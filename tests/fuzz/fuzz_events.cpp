// Needs: gateway/src/events/events.cpp gateway/src/events/event_text.cpp gateway/src/base/json_excerpt.cpp
// Needs: gateway/src/base/json_object.cpp gateway/src/log/log_line.cpp
// Needs: gateway/src/base/readable_bytes.cpp gateway/src/base/strict_json.cpp gateway/src/encode/time_text.cpp
// Needs: nlohmann_json::nlohmann_json

#include "events/event_text.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <variant>
#include <vector>

namespace {

using namespace telegate;

void require(bool holds) {
    if (!holds) {
        std::abort();
    }
}

}  // namespace

/// Events that were read are written so that they are read back the same.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const void* const bytes = data;
    const auto read = read_events({static_cast<const char*>(bytes), size});
    if (const auto* const fault = std::get_if<std::string>(&read)) {
        require(!fault->empty() && fault->size() < 1'024);
        return 0;
    }
    const std::string text = events_file_text(std::get<std::vector<EventEntry>>(read));
    const auto again = read_events(text);
    require(std::holds_alternative<std::vector<EventEntry>>(again));
    require(events_file_text(std::get<std::vector<EventEntry>>(again)) == text);
    return 0;
}
