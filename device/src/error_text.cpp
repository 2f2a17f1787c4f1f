#include "error_text.hpp"

#include <cstring>

namespace telegate {
namespace {

std::size_t fitting_bytes(std::string_view text, std::size_t bytes_max) noexcept {
    if (text.size() <= bytes_max) {
        return text.size();
    }
    std::size_t cut = bytes_max;
    while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xC0U) == 0x80U) {
        --cut;
    }
    return cut;
}

}  // namespace

void ErrorText::store(std::string_view text) noexcept {
    const std::size_t bytes = fitting_bytes(text, bytes_max);
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
