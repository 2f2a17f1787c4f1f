#pragma once

#include "config/payload_format.hpp"
#include "encode/cbor_encoder.hpp"
#include "encode/json_encoder.hpp"
#include "encode/record_encoder.hpp"

#include <tuple>

namespace telegate {

/// One row per format in the order of PayloadFormat: the encoder of its samples, which also names its notices.
///
/// An encoder writes a sample to a buffer of bytes_max(sample) bytes and has samples_per_payload_max. Its Notices
/// append a notice as a payload, and read the sequence numbers of any payload.
using Encoders = std::tuple<JsonEncoder, CborEncoder, RecordEncoder>;
static_assert(std::tuple_size_v<Encoders> == payload_formats);

}  // namespace telegate
