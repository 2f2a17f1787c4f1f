#pragma once

#include <string>
#include <string_view>

namespace telegate {

/// Whether a setting names a credential that systemd passes to the service: "credential:NAME".
[[nodiscard]] bool is_credential(std::string_view given) noexcept;

/// The path of the file that a setting names: of a credential the file NAME in the folder $CREDENTIALS_DIRECTORY,
/// otherwise `given` itself. Throws std::runtime_error when there is no such folder or NAME is not the name of a file.
[[nodiscard]] std::string credential_path(const std::string& given);

}  // namespace telegate
