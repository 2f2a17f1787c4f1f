#pragma once

#include "workload.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>

namespace telegate::perf {

/// Sent before the clock starts, any number of times, to prove that messages arrive. Receivers skip it.
inline constexpr std::uint64_t hello_number = UINT64_MAX;

/// Makes `payload` the message of this number.
inline void stamp(std::span<char> payload, std::uint64_t number) noexcept {
    std::memcpy(payload.data(), &number, sizeof number);
    payload.back() = static_cast<char>(static_cast<unsigned char>(number));
}

/// What one receiver does with each message: looks at its size, first and last byte and number.
///
/// Threads: the receiver's. Limits: none. Failure: check() throws std::runtime_error for the first wrong message.
class Checker {
  public:
    Checker(std::size_t message_bytes, const Share& share) noexcept
        : message_bytes_(message_bytes), share_(share), next_(share.first) {}

    void take(const void* data, std::size_t bytes) noexcept {
        if (bytes != message_bytes_) [[unlikely]] {
            return fail("has the wrong size");
        }
        std::uint64_t number = 0;
        std::memcpy(&number, data, sizeof number);
        const auto last = static_cast<const unsigned char*>(data)[bytes - 1];
        if (number != next_ || last != static_cast<unsigned char>(number)) [[unlikely]] {
            return look_again(number, last);
        }
        next_ += share_.stride;
    }

    [[nodiscard]] bool is_greeted() const noexcept { return is_greeted_; }
    /// Everything has come, or something was wrong.
    [[nodiscard]] bool is_done() const noexcept { return next_ >= share_.end || fault_ != nullptr; }
    [[nodiscard]] std::uint64_t received() const noexcept { return (next_ - share_.first) / share_.stride; }

    /// To be called when it is done.
    void check() const {
        if (fault_ != nullptr) {
            throw std::runtime_error("message " + std::to_string(received()) + " of a receiver " + fault_);
        }
        if (next_ >= share_.end + share_.stride && received() > 0) {
            throw std::runtime_error("a receiver got more messages than were sent");
        }
    }

  private:
    void fail(const char* fault) noexcept { fault_ = fault_ == nullptr ? fault : fault_; }
    void look_again(std::uint64_t number, unsigned char last) noexcept {
        if (last != static_cast<unsigned char>(number)) {
            fail("has another last byte than it was sent with");
        } else if (number == hello_number && next_ == share_.first) {
            is_greeted_ = true;
        } else {
            fail("is lost, doubled or out of order");
        }
    }

    const std::size_t message_bytes_;
    const Share share_;
    std::uint64_t next_;
    bool is_greeted_ = false;
    const char* fault_ = nullptr;
};

}  // namespace telegate::perf
