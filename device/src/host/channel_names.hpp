#pragma once

#include "core/topic.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace telegate::host {

/// Returns the topic part closest to `name`, at most `bytes_max` long, for which `is_taken` returns false. Names that
/// differ only in letter case or special characters become x, x_2, x_3, in the order in which they are found.
template <class IsTaken>
[[nodiscard]] std::string free_part(std::string_view name, std::size_t bytes_max, IsTaken is_taken) {
    const std::string wanted = to_topic_part(name.substr(0, bytes_max));
    std::string part = wanted;
    for (unsigned number = 2; is_taken(part); ++number) {
        const std::string suffix = '_' + std::to_string(number);
        part = wanted.substr(0, bytes_max - suffix.size()) + suffix;
    }
    return part;
}

}  // namespace telegate::host
