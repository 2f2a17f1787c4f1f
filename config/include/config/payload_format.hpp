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

/// The format of the messages of an uplink to NATS, see docs/uplinks/nats.md.
enum class MessageFormat : std::uint8_t { json, cbor, record, block };

/// The names in the settings, in the order of the enumerators.
inline constexpr auto message_format_names = enum_names<MessageFormat>({{"json", MessageFormat::json},
                                                                        {"cbor", MessageFormat::cbor},
                                                                        {"record", MessageFormat::record},
                                                                        {"block", MessageFormat::block}});

[[nodiscard]] constexpr std::string_view to_string(MessageFormat format) noexcept {
    return message_format_names.names[static_cast<std::size_t>(format)];
}

}  // namespace telegate
