#include "error_text.hpp"

#include "core/utf8.hpp"

#include <cstring>

namespace telegate {

void ErrorText::store(std::string_view text) noexcept {
    const std::size_t bytes = whole_characters_bytes(text, bytes_max);
    Words next{};
    std::memcpy(next.data(), text.data(), bytes);
    if (bytes == last_bytes_ && next == last_) {
        return;
    }
    last_ = next;
    last_bytes_ = bytes;
    lock_.begin();
    bytes_.store(bytes, std::memory_order_release);
    for (std::size_t i = 0; i < words; ++i) {
        words_[i].store(next[i], std::memory_order_release);
    }
    lock_.commit();
}

std::string ErrorText::load() const {
    return lock_.read([this] {
        Words copy{};
        const std::size_t bytes = bytes_.load(std::memory_order_acquire);
        for (std::size_t i = 0; i < words; ++i) {
            copy[i] = words_[i].load(std::memory_order_acquire);
        }
        return std::string(reinterpret_cast<const char*>(copy.data()), bytes);
    });
}

}  // namespace telegate
