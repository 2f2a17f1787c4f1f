#pragma once

#include <string>
#include <string_view>

namespace telegate {

/// Returns whether a setting names a credential that systemd passes to the service: "credential:NAME".
[[nodiscard]] bool is_credential(std::string_view given) noexcept;

/// Returns the path of the file that a setting names: the file NAME in the directory $CREDENTIALS_DIRECTORY for
/// "credential:NAME", otherwise `given` itself. Throws std::runtime_error when the directory is not set or NAME is not
/// a valid file name.
[[nodiscard]] std::string credential_path(const std::string& given);

}  // namespace telegate
