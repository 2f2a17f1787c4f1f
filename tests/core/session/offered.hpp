#pragma once

#include "session/outbox.hpp"

#include <array>
#include <cstddef>
#include <string>

namespace telegate::test {

/// Returns the pending data of an outbox as it would be written.
[[nodiscard]] inline std::string offered(const Outbox& outbox) {
    std::array<StreamPart, 512> parts;
    std::string bytes;
    const std::size_t count = outbox.backlog().gather(parts);
    for (std::size_t i = 0; i < count; ++i) {
        bytes += as_text({parts[i].data, parts[i].bytes});
    }
    return bytes;
}

}  // namespace telegate::test
