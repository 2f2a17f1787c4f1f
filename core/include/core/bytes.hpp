#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace telegate {

using Bytes = std::span<const std::byte>;

[[nodiscard]] inline Bytes as_bytes(std::string_view text) noexcept {
    return std::as_bytes(std::span(text));
}
[[nodiscard]] inline std::string_view as_text(Bytes bytes) noexcept {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace telegate
