#include "host/path_pattern.hpp"

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace telegate::host {
namespace {

std::string checked(std::string_view text) {
    bool is_good = text.starts_with('/') && !text.ends_with('/');
    std::size_t at = 0;
    while (at < text.size()) {
        const std::size_t end = std::min(text.find('/', at + 1), text.size());
        is_good = is_good && std::count(text.begin() + static_cast<std::ptrdiff_t>(at),
                                        text.begin() + static_cast<std::ptrdiff_t>(end), '*') <= 1;
        at = end;
    }
    if (!is_good) {
        throw std::invalid_argument("\"" + std::string(text) +
                                    "\"; must be the absolute path of a file, with at most one * in each part");
    }
    return std::string(text);
}

/// Sorts names with numbers by number: hwmon2 comes before hwmon10.
bool comes_before(const PatternMatch& left, const PatternMatch& right) {
    return left.stars.size() != right.stars.size() ? left.stars.size() < right.stars.size() : left.path < right.path;
}

/// Replaces each match with the entries below it that match `part`.
void step_into(PathPattern::Found& found, std::string_view part, std::size_t& entries) {
    const std::size_t star = part.find('*');
    if (star == std::string_view::npos) {
        for (PatternMatch& match : found.matches) {
            match.path.append("/").append(part);
        }
        return;
    }
    const std::string_view prefix = part.substr(0, star);
    const std::string_view suffix = part.substr(star + 1);
    std::vector<PatternMatch> next;
    for (const PatternMatch& match : found.matches) {
        std::error_code error;
        std::filesystem::directory_iterator entry(match.path.empty() ? "/" : match.path, error);
        for (; !error && entry != std::filesystem::directory_iterator{}; entry.increment(error)) {
            if (++entries > PathPattern::entries_max) {
                found.is_cut = true;
                break;
            }
            const std::string name = entry->path().filename().string();
            const bool fits = name.size() >= prefix.size() + suffix.size() && name.starts_with(prefix) &&
                              name.ends_with(suffix) && name.starts_with('.') == prefix.starts_with('.');
            if (fits) {
                const std::string text = name.substr(star, name.size() - prefix.size() - suffix.size());
                next.push_back({match.path + '/' + name, match.stars.empty() ? text : match.stars + '.' + text});
            }
        }
    }
    found.matches = std::move(next);
}

}  // namespace

PathPattern::PathPattern(std::string_view text) : text_(checked(text)) {}

std::string_view PathPattern::fixed_part() const noexcept {
    const std::string_view text = text_;
    const std::size_t star = text.find('*');
    return star == std::string_view::npos ? text : text.substr(0, std::max<std::size_t>(text.rfind('/', star), 1));
}

PathPattern::Found PathPattern::find() const {
    Found found;
    found.matches.emplace_back();
    std::size_t entries = 0;
    std::string_view rest = std::string_view(text_).substr(1);
    while (!rest.empty()) {
        const std::size_t end = std::min(rest.find('/'), rest.size());
        step_into(found, rest.substr(0, end), entries);
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    std::erase_if(found.matches, [](const PatternMatch& match) {
        std::error_code error;
        return !std::filesystem::is_regular_file(match.path, error);
    });
    std::sort(found.matches.begin(), found.matches.end(), comes_before);
    return found;
}

}  // namespace telegate::host
