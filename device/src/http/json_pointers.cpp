#include "http/json_pointers.hpp"

#include <array>

namespace telegate::http {

using metrics::JsonEvent;
using metrics::JsonScan;

bool is_json_pointer(std::string_view text) noexcept {
    for (std::size_t at = text.find('~'); at != std::string_view::npos; at = text.find('~', at + 1)) {
        if (at + 1 == text.size() || (text[at + 1] != '0' && text[at + 1] != '1')) {
            return false;
        }
    }
    return text.starts_with('/') && text.size() <= JsonPointers::pointer_bytes_max;
}

JsonPointers::JsonPointers(const std::vector<std::string>& pointers) {
    for (std::size_t index = 0; index < pointers.size(); ++index) {
        index_of_.emplace(pointers[index], index);
    }
    pointer_.reserve(2 * pointer_bytes_max);
    levels_.reserve(JsonScan::depth_max);
}

bool JsonPointers::read(std::string_view text, const Found& found) {
    if (!repeats_.find(text)) {
        return false;
    }
    pointer_.clear();
    levels_.clear();
    JsonScan scan(text);
    for (JsonEvent event = repeats_.next(scan); event != JsonEvent::end; event = repeats_.next(scan)) {
        if (event == JsonEvent::end_object || event == JsonEvent::end_array) {
            levels_.pop_back();
        } else if (event == JsonEvent::key) {
            enter(scan.raw(), true);
        } else {
            if (!levels_.empty() && levels_.back().is_array) {
                enter(std::to_string(levels_.back().next_index++), false);
            }
            add_sample(scan, event, found);
            if (begins(event)) {
                levels_.push_back({pointer_.size(), event == JsonEvent::begin_array});
            }
        }
    }
    return true;
}

/// Sets the pointer to a member or an element of the innermost object or array. A pointer that is too long is
/// truncated, so it equals none of the requested ones.
void JsonPointers::enter(std::string_view name, bool is_raw) {
    pointer_.resize(levels_.back().pointer_bytes);
    std::array<char, pointer_bytes_max + 1> plain;
    if (is_raw) {
        name = metrics::put_json_text(name, plain).text;
    }
    pointer_ += '/';
    for (const char c : name) {
        if (pointer_.size() > pointer_bytes_max) {
            return;
        }
        if (c == '~' || c == '/') {
            pointer_ += c == '~' ? "~0" : "~1";
        } else {
            pointer_ += c;
        }
    }
}

void JsonPointers::add_sample(const JsonScan& scan, JsonEvent event, const Found& found) {
    const auto at = index_of_.find(std::string_view(pointer_));
    if (at != index_of_.end()) {
        found(at->second, scan, event);
    }
}

}  // namespace telegate::http
