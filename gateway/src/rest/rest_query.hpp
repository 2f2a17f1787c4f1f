#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace telegate {

/// The parsed query of a request target, `?name=value&...`, percent-decoded; a plus sign is a space.
///
/// Threads: one.
/// Limits: parameters_max; has_more() reports that there were more. The server limits the target itself.
/// Failure: invalid percent-encoding stays as it is.
class RestQuery {
  public:
    static constexpr std::size_t parameters_max = 256;

    explicit RestQuery(std::string_view target);

    /// Returns all values of a name, in order.
    [[nodiscard]] std::vector<std::string_view> all(std::string_view name) const;
    [[nodiscard]] bool has(std::string_view name) const { return !all(name).empty(); }
    /// Returns each name once, in order of appearance.
    [[nodiscard]] std::vector<std::string_view> names() const;
    /// Returns whether parameters after the first parameters_max were omitted.
    [[nodiscard]] bool has_more() const noexcept { return has_more_; }

  private:
    std::vector<std::pair<std::string, std::string>> parameters_;
    bool has_more_ = false;
};

/// The values allowed for `revert_after`, in words.
inline constexpr std::string_view revert_allowed = "1s to 24h, such as 90s, 10m or 1h30m";
inline constexpr std::string_view revert_after_schema =
    R"({"type": "string", "pattern": "^([1-9][0-9]{0,2}[sm]|([1-9]|1[0-9]|2[0-4])h)$"})";

/// Parses the time after which a change is reverted; nullopt if it is invalid or has no unit. Threads: any.
[[nodiscard]] std::optional<std::chrono::milliseconds> parse_revert_after(std::string_view text);

}  // namespace telegate
