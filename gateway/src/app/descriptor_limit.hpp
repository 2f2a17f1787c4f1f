#pragma once

#include <cstddef>

namespace telegate {

/// Raises this process's limit of open descriptors as far as it may, since each subscriber costs one and the usual
/// limit of 1,024 is for programs that use select(). Returns the limit now in force. Threads: the main thread, at
/// start.
[[nodiscard]] std::size_t raise_descriptor_limit() noexcept;

/// Connections that each part of the gateway may have, so that none of them leaves another one without descriptors.
struct DescriptorShares {
    std::size_t subscribers = 1;
    std::size_t services = 1;
    std::size_t rest = 1;          // besides streams
    std::size_t rest_streams = 0;  // event streams
};

/// Divides the descriptors that the process does not need for itself and its devices. `rest` and `rest_streams` are
/// what REST has when there are enough.
[[nodiscard]] DescriptorShares share_descriptors(std::size_t limit, std::size_t devices, std::size_t rest,
                                                 std::size_t rest_streams) noexcept;

}  // namespace telegate
