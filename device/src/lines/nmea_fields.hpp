#pragma once

#include "lines/line_fields.hpp"
#include "lines/nmea_sentences.hpp"

#include <optional>
#include <span>
#include <string_view>

namespace telegate::nmea {

/// Returns the value of the field of this kind at the front of `parts`. Missing and empty parts have no value. Returns
/// nullopt if the parts do not match the kind. Texts that are created are stored in `fields`.
[[nodiscard]] std::optional<FieldValue> to_value(Kind kind, std::span<const std::string_view> parts,
                                                 LineFields& fields);

}  // namespace telegate::nmea
