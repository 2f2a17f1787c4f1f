#pragma once

#include <sodium.h>

#include <array>
#include <cstddef>
#include <stdexcept>

/// libsodium, with our byte type.
namespace telegate {

/// Comes before every other use of libsodium; costs next to nothing when repeated.
/// Threads: any. Failure: throws std::runtime_error when the system has no random bytes to give.
inline void start_sodium() {
    static const bool started = ::sodium_init() >= 0;
    if (!started) {
        throw std::runtime_error("libsodium cannot start: the system gives no random bytes");
    }
}

[[nodiscard]] inline unsigned char* octets(std::byte* bytes) noexcept {
    return reinterpret_cast<unsigned char*>(bytes);
}
[[nodiscard]] inline const unsigned char* octets(const std::byte* bytes) noexcept {
    return reinterpret_cast<const unsigned char*>(bytes);
}

/// Bytes that nobody may find in memory afterwards.
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
