#pragma once

#include "core/bytes.hpp"
#include "core/endian.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace telegate::store {

using ByteBuffer = std::vector<std::byte>;

/// Maps small positive and negative numbers to small unsigned ones: 0, -1, 1, -2 become 0, 1, 2, 3. Threads: any.
[[nodiscard]] constexpr std::uint64_t zigzag(std::uint64_t value) noexcept {
    return (value << 1U) ^ (0 - (value >> 63U));
}
[[nodiscard]] constexpr std::uint64_t unzigzag(std::uint64_t code) noexcept {
    return (code >> 1U) ^ (0 - (code & 1U));
}

/// Appends a number in little-endian order. Threads: any. Failure: throws std::bad_alloc.
template <Number T>
void append_number(ByteBuffer& out, T value) {
    const std::size_t at = out.size();
    out.resize(at + sizeof value);
    store_little_endian(out.data() + at, value);
}

/// Appends 1 to 10 bytes, seven bits in each, least significant first. Threads: any. Failure: throws std::bad_alloc.
inline void append_varint(ByteBuffer& out, std::uint64_t value) {
    constexpr std::uint64_t more = 0x80;
    for (; value >= more; value >>= 7U) {
        out.push_back(static_cast<std::byte>(value | more));
    }
    out.push_back(static_cast<std::byte>(value));
}

inline void append_text(ByteBuffer& out, std::string_view text) {
    const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
    out.insert(out.end(), bytes, bytes + text.size());
}

inline void pad_to_eight(ByteBuffer& out) {
    out.resize((out.size() + 7) & ~std::size_t{7});
}

/// Reads what the functions above append. A read beyond the end yields zeros and makes failed() true from then on, so a
/// caller checks once at its end. Threads: one. Limits: none. Failure: see above.
class ByteReader {
  public:
    explicit ByteReader(Bytes bytes) noexcept : bytes_(bytes) {}

    [[nodiscard]] bool failed() const noexcept { return failed_; }
    [[nodiscard]] std::size_t left() const noexcept { return bytes_.size(); }

    /// Returns the next `count` bytes, or none if there are fewer.
    [[nodiscard]] Bytes read_bytes(std::uint64_t count) noexcept {
        if (count > bytes_.size()) {
            fail();
            return {};
        }
        const Bytes taken = bytes_.first(static_cast<std::size_t>(count));
        bytes_ = bytes_.subspan(taken.size());
        return taken;
    }

    template <Number T>
    [[nodiscard]] T number() noexcept {
        const Bytes bytes = read_bytes(sizeof(T));
        return bytes.empty() ? T{} : load_little_endian<T>(bytes.data());
    }

    [[nodiscard]] std::uint64_t varint() noexcept {
        std::uint64_t value = 0;
        for (std::size_t i = 0; i < bytes_.size() && i < 10; ++i) {
            const auto byte = std::to_integer<std::uint64_t>(bytes_[i]);
            value |= (byte & 0x7FU) << (7 * i);
            if (byte < 0x80) {
                bytes_ = bytes_.subspan(i + 1);
                return value;
            }
        }
        fail();
        return 0;
    }

    /// Like varint(), for numbers of up to 32 bits.
    [[nodiscard]] std::uint32_t varint_32() noexcept { return narrow(varint()); }
    /// Returns `number` if it has up to 32 bits; otherwise 0, as for a read beyond the end.
    [[nodiscard]] std::uint32_t narrow(std::uint64_t number) noexcept {
        if (number > UINT32_MAX) {
            fail();
            return 0;
        }
        return static_cast<std::uint32_t>(number);
    }

    [[nodiscard]] std::string_view text(std::uint64_t count) noexcept {
        const Bytes bytes = read_bytes(count);
        return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
    }

    void fail() noexcept {
        failed_ = true;
        bytes_ = {};
    }

  private:
    Bytes bytes_;
    bool failed_ = false;
};

}  // namespace telegate::store
