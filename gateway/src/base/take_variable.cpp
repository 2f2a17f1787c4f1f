#include "base/take_variable.hpp"

#include <charconv>
#include <cstdlib>
#include <system_error>

namespace telegate {

std::string take_variable(const char* name) {
    const char* const value = std::getenv(name);
    std::string taken = value != nullptr ? value : "";
    ::unsetenv(name);
    return taken;
}

std::optional<std::uint64_t> to_number(std::string_view text) {
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (text.empty() || error != std::errc() || end != text.data() + text.size()) {
        return std::nullopt;
    }
    return number;
}

}  // namespace telegate
