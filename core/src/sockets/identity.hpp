#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace telegate {

/// Checks an identity. Throws std::invalid_argument with the reason unless RFC 37 allows it: 1 to 255 bytes, the first
/// not zero.
/// Threads: any.
void check_identity(std::string_view text);

/// Returns whether two texts of the same size, between one and two times that of `Word`, are equal. Threads: any.
template <class Word>
[[nodiscard]] bool are_equal_in_words(const char* a, const char* b, std::size_t bytes) noexcept {
    const auto differ = [&](std::size_t at) {
        Word left = 0;
        Word right = 0;
        std::memcpy(&left, a + at, sizeof(Word));
        std::memcpy(&right, b + at, sizeof(Word));
        return left ^ right;
    };
    return (differ(0) | differ(bytes - sizeof(Word))) == 0;
}

/// Returns whether two identities are the same, in a few steps if they are short, as usual. Threads: any.
[[nodiscard]] inline bool are_same(std::string_view a, std::string_view b) noexcept {
    if (a.size() != b.size()) {
        return false;
    }
    if (a.size() - sizeof(std::uint64_t) <= sizeof(std::uint64_t)) {
        return are_equal_in_words<std::uint64_t>(a.data(), b.data(), a.size());
    }
    if (a.size() - sizeof(std::uint32_t) <= sizeof(std::uint32_t)) {
        return are_equal_in_words<std::uint32_t>(a.data(), b.data(), a.size());
    }
    return a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0;
}

/// Generates identities for peers that send none: five bytes, the first zero, so that no peer can send one of them.
///
/// Threads: one. Limits: repeats after 2^32. Failure: the constructor may throw std::system_error.
class AutomaticIdentities {
  public:
    AutomaticIdentities();
    [[nodiscard]] std::string next();

  private:
    std::uint32_t number_;  // starts at a random number, so that a restart does not use the same ones again
};

}  // namespace telegate
