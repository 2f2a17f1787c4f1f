#include "config/credential_path.hpp"

#include <cstdlib>
#include <stdexcept>

namespace telegate {
namespace {

constexpr std::string_view credential = "credential:";

}  // namespace

bool is_credential(std::string_view given) noexcept {
    return given.starts_with(credential);
}

std::string credential_path(const std::string& given) {
    if (!is_credential(given)) {
        return given;
    }
    const std::string name = given.substr(credential.size());
    if (name.empty() || name == "." || name == ".." || name.find('/') != std::string::npos) {
        throw std::runtime_error(given + ": not the name of a credential: \"" + name +
                                 "\"; must be credential:NAME, as in LoadCredential=NAME:PATH");
    }
    const char* const folder = std::getenv("CREDENTIALS_DIRECTORY");
    if (folder == nullptr || *folder == '\0') {
        throw std::runtime_error(
            given +
            ": CREDENTIALS_DIRECTORY is not set in the environment; systemd sets it for a unit with "
            "LoadCredential. To check settings without the service, set it to the directory of the "
            "files");
    }
    return std::string(folder) + '/' + name;
}

}  // namespace telegate
