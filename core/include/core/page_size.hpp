#pragma once

#include <unistd.h>

#include <cstddef>

namespace telegate {

/// The page size of the system: 4 KiB, or 16 or 64 KiB on some arm64 systems. Only tests change it.
inline std::size_t page_bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));

/// Returns the size of the pages that hold this many bytes.
[[nodiscard]] inline std::size_t whole_pages(std::size_t bytes) noexcept {
    return (bytes + page_bytes - 1) / page_bytes * page_bytes;
}

}  // namespace telegate
