#pragma once

#include <string>
#include <string_view>

/// The pages of docs/ that are part text and part made. All throw std::runtime_error when what they
/// are made of lacks a mark, or is not there.
namespace telegate::reference {

/// The page of a driver with the tables of its settings between the lines <!-- settings --> and <!-- /settings -->.
[[nodiscard]] std::string with_settings(std::string_view page, std::string_view driver);

/// `outline` with the parts of `source` that it names: for a line {{code NAME}} what stands between the lines // [NAME
/// and // NAME].
[[nodiscard]] std::string with_code(std::string_view outline, std::string_view source);

}  // namespace telegate::reference
