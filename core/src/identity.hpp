#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace telegate {

/// Throws std::invalid_argument, saying what it is, unless RFC 37 allows it: 1 to 255 bytes, the first not zero.
/// Threads: any.
void check_identity(std::string_view text);

/// Identities for peers that tell none: five bytes, the first zero, so that no peer can tell one of them.
///
/// Threads: one. Limits: repeats after 2^32. Failure: the constructor may throw std::system_error.
class AutomaticIdentities {
  public:
    AutomaticIdentities();
    [[nodiscard]] std::string next();

  private:
    std::uint32_t number_;  // starts anywhere, so that a restart does not give the same ones again
};

}  // namespace telegate
