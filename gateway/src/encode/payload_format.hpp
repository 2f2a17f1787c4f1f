#pragma once

#include "core/delivery.hpp"
#include "core/endpoint.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace telegate {

struct CurveServer;

/// How a sample looks on the wire, see docs/wire.md. It belongs to the endpoint that the sample is published on.
enum class PayloadFormat : std::uint8_t { json, cbor, record };
inline constexpr std::size_t payload_formats = 3;

/// As in the settings.
[[nodiscard]] std::string_view to_string(PayloadFormat format) noexcept;

/// An endpoint of ours and what is published there.
struct FormatEndpoint {
    Endpoint endpoint;
    PayloadFormat format = PayloadFormat::json;
    std::string name = {};                               // of its section
    int adopted = -1;                                    // a socket that listens there already and now is ours
    std::shared_ptr<const CurveServer> curve = nullptr;  // null: the mechanism NULL
    Delivery delivery = {};                              // for who reads too slowly
    bool last_value = false;                             // a new subscription first gets last values
};

}  // namespace telegate
