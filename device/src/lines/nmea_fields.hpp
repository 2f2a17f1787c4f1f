#pragma once

#include "lines/line_fields.hpp"
#include "lines/nmea_sentences.hpp"

#include <optional>
#include <span>
#include <string_view>

namespace telegate::nmea {

/// What the field of that kind at the front of `parts` is worth; parts that are not there are empty, and empty ones
/// have no value. nullopt for what the kind cannot be. Texts that it makes up are kept in `fields`.
[[nodiscard]] std::optional<FieldValue> to_value(Kind kind, std::span<const std::string_view> parts,
                                                 LineFields& fields);

}  // namespace telegate::nmea
