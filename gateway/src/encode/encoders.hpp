#pragma once

#include "config/payload_format.hpp"
#include "encode/cbor_encoder.hpp"
#include "encode/json_encoder.hpp"
#include "encode/record_encoder.hpp"

#include <tuple>

namespace telegate {

/// One row for each format, in the order of PayloadFormat: what encodes its samples and names its notices.
///
/// An encoder writes a sample to a buffer of bytes_max(sample) bytes, and has samples_per_payload_max. Its Notices
/// append a notice as a payload, and read from any payload which samples it is about.
using Encoders = std::tuple<JsonEncoder, CborEncoder, RecordEncoder>;
static_assert(std::tuple_size_v<Encoders> == payload_formats);

}  // namespace telegate
