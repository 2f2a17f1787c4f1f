#pragma once

#include "core/topic.hpp"

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace telegate::host {

/// Assigns names to channels, or to groups of channels, that are named after parts of the machine.
///
/// Threads: one.
/// Limits: keeps each name in use.
/// Failure: std::bad_alloc.
class FreeNames {
  public:
    /// Returns `prefix` and the topic part closest to `name`, at most `bytes_max` long. Names that differ only in
    /// letter case or special characters become x, x_2, x_3, in the order in which they are used.
    [[nodiscard]] std::string find(const std::string& prefix, std::string_view name, std::size_t bytes_max) const {
        const std::string wanted = to_topic_part(name.substr(0, bytes_max));
        std::string part = wanted;
        for (unsigned number = 2; claimed_.contains(prefix + part); ++number) {
            const std::string suffix = '_' + std::to_string(number);
            part = wanted.substr(0, bytes_max - suffix.size()) + suffix;
        }
        return prefix + part;
    }
    void use(std::string name) { claimed_.insert(std::move(name)); }
    [[nodiscard]] std::string claim(const std::string& prefix, std::string_view name, std::size_t bytes_max) {
        std::string found = find(prefix, name, bytes_max);
        use(found);
        return found;
    }

  private:
    std::set<std::string> claimed_;
};

}  // namespace telegate::host
