#pragma once

#include <sodium.h>

#include <array>
#include <cstddef>
#include <stdexcept>

/// libsodium, with the byte type of this project.
namespace telegate {

/// Initializes libsodium. Must be called before any other use of it; costs almost nothing when repeated.
/// Threads: any. Failure: throws std::runtime_error if the system provides no random bytes.
inline void start_sodium() {
    static const bool started = ::sodium_init() >= 0;
    if (!started) {
        throw std::runtime_error("cannot start libsodium: the system provides no random bytes");
    }
}

[[nodiscard]] inline unsigned char* octets(std::byte* bytes) noexcept {
    return reinterpret_cast<unsigned char*>(bytes);
}
[[nodiscard]] inline const unsigned char* octets(const std::byte* bytes) noexcept {
    return reinterpret_cast<const unsigned char*>(bytes);
}

/// Bytes that are wiped from memory by the destructor.
/// Threads: one. Limits: its size. Failure: none.
template <std::size_t Size>
class Secret {
  public:
    Secret() = default;
    ~Secret() { wipe(); }
    Secret(const Secret&) = delete;
    Secret& operator=(const Secret&) = delete;

    void wipe() noexcept { ::sodium_memzero(bytes_.data(), Size); }
    [[nodiscard]] std::byte* data() noexcept { return bytes_.data(); }
    [[nodiscard]] const std::byte* data() const noexcept { return bytes_.data(); }
    [[nodiscard]] static constexpr std::size_t size() noexcept { return Size; }

  private:
    std::array<std::byte, Size> bytes_{};
};

}  // namespace telegate
