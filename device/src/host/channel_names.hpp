#pragma once

#include "core/topic.hpp"

#include <cstddef>
#include <set>
#include <string>
#include <string_view>

namespace telegate::host {

/// Gives names to channels, or to groups of channels, that are named after parts of the machine.
///
/// Threads: one.
/// Limits: keeps each name that it has returned.
/// Failure: std::bad_alloc.
class FreeNames {
  public:
    /// Returns `prefix` and the topic part closest to `name`, at most `bytes_max` long. Names that differ only in
    /// letter case or special characters become x, x_2, x_3, in the order of the calls.
    [[nodiscard]] std::string take(const std::string& prefix, std::string_view name, std::size_t bytes_max) {
        const std::string wanted = to_topic_part(name.substr(0, bytes_max));
        std::string part = wanted;
        for (unsigned number = 2; !taken_.insert(prefix + part).second; ++number) {
            const std::string suffix = '_' + std::to_string(number);
            part = wanted.substr(0, bytes_max - suffix.size()) + suffix;
        }
        return prefix + part;
    }

  private:
    std::set<std::string> taken_;
};

}  // namespace telegate::host
