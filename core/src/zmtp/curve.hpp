#pragma once

#include "core/curve.hpp"
#include "zmtp/frame.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace telegate::zmtp {

/// The frame flags (more, command) and payload of a CURVE MESSAGE.
struct OpenedFrame {
    bool ok = false;
    std::uint8_t flags = 0;
    std::span<std::byte> payload;  // inside the body given to open()
};

/// Seals and opens the traffic of one connection after its CURVE handshake: each of our frames becomes one MESSAGE
/// frame, and vice versa.
/// Pure. Threads: one. Limits: none. Failure: open() is not ok for a body that is too short, is not a MESSAGE, has a
/// nonce that does not increase, does not verify, or has inner flags that no peer may send; the nonce advances only
/// after the body was verified.
class CurveCipher {
  public:
    /// `shared`: crypto_box_beforenm of the two transient keys. The nonces: the last ones that the handshake used.
    CurveCipher(const CurveKey& shared, bool as_server, std::uint64_t own_nonce, std::uint64_t peer_nonce) noexcept;
    ~CurveCipher();  // wipes the keys
    CurveCipher(const CurveCipher&) = delete;
    CurveCipher& operator=(const CurveCipher&) = delete;

    /// Returns the size of the whole MESSAGE frame, header included, for a payload of this size.
    [[nodiscard]] static std::size_t sealed_bytes(std::size_t payload_bytes) noexcept;
    /// Writes the whole MESSAGE frame to `out`, which must have space for sealed_bytes(), and returns its size. `flags`
    /// is more, command or 0; `payload` must not overlap `out`.
    std::size_t seal(std::byte* out, std::uint8_t flags, Bytes payload) noexcept;
    /// Opens the body of a received frame, in place.
    [[nodiscard]] OpenedFrame open(std::span<std::byte> body) noexcept;

  private:
    // A MESSAGE nonce is 16 fixed bytes and a counter, so the part of the box that depends only on the key and those 16
    // bytes is computed once.
    CurveKey seal_key_;
    CurveKey open_key_;
    std::uint64_t own_nonce_;
    std::uint64_t peer_nonce_;
};

}  // namespace telegate::zmtp
