#pragma once

#include "config/payload_format.hpp"
#include "encode/cbor_encoder.hpp"
#include "encode/json_encoder.hpp"
#include "encode/record_encoder.hpp"

#include <cstddef>
#include <tuple>
#include <type_traits>

namespace telegate {

/// One row per format in the order of PayloadFormat: the encoder of its samples, which also names its notices.
///
/// An encoder writes a sample to a buffer of bytes_max(sample) bytes. Consecutive samples of a channel share a payload,
/// up to samples_per_payload_max. A payload contains the epoch, and also the channel unless readers take that from the
/// topic. The encoder's Notices append a notice as a payload, and read the sequence numbers of any payload; a payload
/// that the encoder cannot have written has none.
using Encoders = std::tuple<JsonEncoder, CborEncoder, RecordEncoder>;
static_assert(std::tuple_size_v<Encoders> == payload_formats);

/// Returns the result of `function` for the std::type_identity of a format's encoder.
template <std::size_t index = 0, class Function>
auto with_encoder(PayloadFormat format, const Function& function) {
    if constexpr (index + 1 < payload_formats) {
        if (static_cast<std::size_t>(format) != index) {
            return with_encoder<index + 1>(format, function);
        }
    }
    return function(std::type_identity<std::tuple_element_t<index, Encoders>>());
}

}  // namespace telegate
