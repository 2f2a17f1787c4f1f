#pragma once

#include <cstddef>
#include <cstdint>
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

/// Returns the CRC-32C (Castagnoli) of `bytes`: reflected polynomial 0x1EDC6F41, initial value and final XOR all ones.
/// The CRC of "123456789" is 0xE3069283. Threads: any.
[[nodiscard]] std::uint32_t crc32c(Bytes bytes) noexcept;

}  // namespace telegate
