#pragma once

#include "tail_options.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace telegate::tail {

/// An invalid option value. what() names the option, the given value and what is allowed.
class Refusal : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// Longest prefix that the services of a gateway accept; topics are shorter.
inline constexpr std::size_t prefix_bytes_max = 256;

// Parse values from the command line. All throw Refusal. An empty text is an option that was not given.
[[nodiscard]] Endpoint read_endpoint(const std::string& option, const std::string& text);
[[nodiscard]] std::optional<std::chrono::milliseconds> read_duration(const std::string& option,
                                                                     const std::string& text);
[[nodiscard]] std::optional<std::uint64_t> read_count(const std::string& text);
void check_color(const std::string& color);
void read_since(const std::string& text, TailOptions& options);
/// Returns the prefixes without those that another one covers.
[[nodiscard]] std::vector<std::string> read_prefixes(std::vector<std::string> prefixes);

}  // namespace telegate::tail
