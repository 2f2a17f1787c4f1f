#include "error_text.hpp"

#include <cstring>
#include <thread>

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
    const std::uint64_t version = version_.load(std::memory_order_relaxed);
    version_.store(version + 1, std::memory_order_relaxed);
    // Release on all: whoever reads a new one also sees that a change is in progress.
    bytes_.store(bytes, std::memory_order_release);
    for (std::size_t i = 0; i < words; ++i) {
        words_[i].store(next[i], std::memory_order_release);
    }
    version_.store(version + 2, std::memory_order_release);
}

std::string ErrorText::load() const {
    for (;;) {
        const std::uint64_t before = version_.load(std::memory_order_acquire);
        if (before % 2 == 0) {
            Words copy{};
            const std::size_t bytes = bytes_.load(std::memory_order_acquire);
            for (std::size_t i = 0; i < words; ++i) {
                copy[i] = words_[i].load(std::memory_order_acquire);
            }
            if (version_.load(std::memory_order_relaxed) == before) {
                return {reinterpret_cast<const char*>(copy.data()), bytes};
            }
        }
        std::this_thread::yield();
    }
}

}  // namespace telegate
