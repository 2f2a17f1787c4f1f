#pragma once

#include "config/enum_names.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace telegate {

/// The wire format of a sample, see docs/wire.md. It is a property of the endpoint that publishes the sample.
enum class PayloadFormat : std::uint8_t { json, cbor, record };

/// The names in the settings, in the order of the enumerators.
inline constexpr auto payload_format_names = enum_names<PayloadFormat>(
    {{"json", PayloadFormat::json}, {"cbor", PayloadFormat::cbor}, {"record", PayloadFormat::record}});
inline constexpr std::size_t payload_formats = payload_format_names.names.size();

[[nodiscard]] constexpr std::string_view to_string(PayloadFormat format) noexcept {
    return payload_format_names.names[static_cast<std::size_t>(format)];
}

}  // namespace telegate
