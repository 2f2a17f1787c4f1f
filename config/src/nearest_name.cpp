#include "config/nearest_name.hpp"

#include "core/text.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace telegate {
namespace {

bool same(char a, char b) noexcept {
    return to_lower(a) == to_lower(b);
}

/// Computes the distance row by row; swaps also need the row before the previous one. Both texts have at most
/// name_bytes_max bytes. Returns `enough` as soon as the distance is known to be at least that.
std::size_t edit_distance(std::string_view a, std::string_view b, std::size_t enough) noexcept {
    using Row = std::array<std::size_t, name_bytes_max + 1>;
    Row before{};
    Row above{};
    Row row{};
    for (std::size_t j = 0; j <= b.size(); ++j) {
        above[j] = j;
    }
    std::size_t least_above = 0;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        std::size_t least = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replaced = above[j - 1] + (same(a[i - 1], b[j - 1]) ? 0 : 1);
            row[j] = std::min({above[j] + 1, row[j - 1] + 1, replaced});
            if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1])) {
                row[j] = std::min(row[j], before[j - 2] + 1);
            }
            least = std::min(least, row[j]);
        }
        if (std::min(least, least_above) >= enough) {  // both, because of swaps
            return enough;
        }
        least_above = least;
        before = above;
        above = row;
    }
    return above[b.size()];
}

}  // namespace

std::string_view nearest_name(std::string_view text, std::span<const std::string_view> names) {
    std::string_view nearest;
    if (text.empty() || text.size() > name_bytes_max) {
        return nearest;
    }
    std::size_t least = std::max<std::size_t>(1, text.size() / 3) + 1;
    for (const std::string_view name : names) {
        const std::size_t difference = std::max(name.size(), text.size()) - std::min(name.size(), text.size());
        if (name.size() > name_bytes_max || difference >= least) {
            continue;
        }
        const std::size_t distance = edit_distance(text, name, least);
        if (distance < least) {
            least = distance;
            nearest = name;
        }
    }
    return nearest;
}

}  // namespace telegate
