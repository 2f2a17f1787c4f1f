#include "log/repeated_lines.hpp"

#include <algorithm>
#include <utility>

namespace telegate {
std::vector<FormattedLine> RepeatedLines::admit(int level, std::string_view text) {
    const MonoTime now = clock_.mono_now();
    const auto is_this = [&](const Known& known) {
        return known.line.text == text && known.line.level == level;
    };
    const auto same = std::find_if(known_.begin(), known_.end(), is_this);
    if (same != known_.end() && now - same->written < window) {
        ++same->line.repeated;
        return {};
    }
    std::uint64_t suppressed = 0;
    if (same != known_.end()) {
        suppressed = same->line.repeated;
        known_.erase(same);
    }
    std::vector<FormattedLine> out;
    const auto fresh =
        std::find_if(known_.begin(), known_.end(), [&](const Known& known) { return now - known.written < window; });
    forget(static_cast<std::size_t>(fresh - known_.begin()), out);
    if (text.size() <= text_bytes_max) {
        forget(known_.size() == texts_max ? 1 : 0, out);
        known_.push_back({{level, std::string(text), 0}, now});
    }
    out.push_back({level, std::string(text), suppressed});
    return out;
}

std::vector<FormattedLine> RepeatedLines::rest() {
    std::vector<FormattedLine> out;
    forget(known_.size(), out);
    return out;
}

/// Removes the `count` oldest lines and appends those that were suppressed, with their counts.
void RepeatedLines::forget(std::size_t count, std::vector<FormattedLine>& out) {
    for (std::size_t i = 0; i < count; ++i) {
        if (known_[i].line.repeated > 0) {
            out.push_back(std::move(known_[i].line));
        }
    }
    known_.erase(known_.begin(), known_.begin() + static_cast<std::ptrdiff_t>(count));
}

}  // namespace telegate
