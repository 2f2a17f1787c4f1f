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

/// A value of an option that is not allowed: what() names the option, the value as it was given, and what is allowed.
class Refusal : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// The services of a gateway take no longer ones, and no topic is as long.
inline constexpr std::size_t prefix_bytes_max = 256;

// What a person has written. All throw Refusal. An empty text is an option that is not given.
[[nodiscard]] Endpoint read_endpoint(const std::string& option, const std::string& text);
[[nodiscard]] std::optional<std::chrono::milliseconds> read_duration(const std::string& option,
                                                                     const std::string& text);
[[nodiscard]] std::optional<std::uint64_t> read_count(const std::string& text);
void check_color(const std::string& color);
void read_since(const std::string& text, TailOptions& options);
/// Without those that another one covers.
[[nodiscard]] std::vector<std::string> read_prefixes(std::vector<std::string> prefixes);

}  // namespace telegate::tail
