#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace telegate {

/// The query of a request target, `?name=value&...`, percent-decoded; a plus sign is a space.
///
/// Threads: one. Failure: what is not percent-encoding stands for itself.
/// Limits:  parameters_max; has_more() reports that there were more. The target itself is bounded by the server.
class RestQuery {
  public:
    static constexpr std::size_t parameters_max = 256;

    explicit RestQuery(std::string_view target);

    /// All values of a name, in order.
    [[nodiscard]] std::vector<std::string_view> all(std::string_view name) const;
    [[nodiscard]] bool has(std::string_view name) const { return !all(name).empty(); }
    /// Each name once, in order of appearance.
    [[nodiscard]] std::vector<std::string_view> names() const;
    /// Whether parameters after the first parameters_max were left out.
    [[nodiscard]] bool has_more() const noexcept { return has_more_; }

  private:
    std::vector<std::pair<std::string, std::string>> parameters_;
    bool has_more_ = false;
};

}  // namespace telegate
