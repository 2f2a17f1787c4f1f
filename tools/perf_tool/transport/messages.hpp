#pragma once

#include "workload.hpp"

#include <cstring>
#include <stdexcept>

/// The messages of a run and their checks.
namespace telegate::perf {

/// The number of greetings, which are sent repeatedly before the clock starts to verify the connection.
inline constexpr std::uint64_t hello_number = UINT64_MAX;

/// Makes `payload` the message with this number.
inline void stamp(std::span<char> payload, std::uint64_t number) noexcept {
    std::memcpy(payload.data(), &number, sizeof number);
    payload.back() = static_cast<char>(static_cast<unsigned char>(number));
}

/// The sender's messages, some of which are created in advance. Otherwise, copies would wait until the processor has
/// completed the recent writes. Threads: one. Limits: bytes_max, or one message. Failure: the constructor throws
/// std::bad_alloc.
class Payloads {
  public:
    explicit Payloads(std::size_t size)
        : size_(size), count_(std::clamp<std::size_t>(bytes_max / size, 1, count_max)), bytes_(count_ * size, 'p') {}

    /// Returns the payload of a message. Must be called in order, from 0.
    [[nodiscard]] std::string_view operator[](std::uint64_t number) noexcept {
        const std::size_t place = next_;
        next_ = next_ + 1 == count_ ? 0 : next_ + 1;
        if (place == 0) {
            for (std::size_t index = 0; index < count_; ++index) {
                stamp(std::span(bytes_).subspan(index * size_, size_), number + index);
            }
        }
        return {bytes_.data() + place * size_, size_};
    }
    /// Returns the payload of a greeting.
    [[nodiscard]] std::string_view hello() noexcept {
        stamp(std::span(bytes_).first(size_), hello_number);
        return {bytes_.data(), size_};
    }

  private:
    static constexpr std::size_t bytes_max = 16 * 1024;
    static constexpr std::size_t count_max = 32;

    const std::size_t size_;
    const std::size_t count_;
    std::vector<char> bytes_;
    std::size_t next_ = 0;
};

/// Checks the size, number and last byte of each message of a receiver.
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
            return take_unexpected(number, last);
        }
        next_ += share_.stride;
    }

    [[nodiscard]] bool is_greeted() const noexcept { return is_greeted_; }
    /// Returns whether all messages have arrived or one was wrong.
    [[nodiscard]] bool is_done() const noexcept { return next_ >= share_.end || fault_ != nullptr; }
    [[nodiscard]] std::uint64_t received() const noexcept { return (next_ - share_.first) / share_.stride; }

    /// Must be called when it is done.
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
    void take_unexpected(std::uint64_t number, unsigned char last) noexcept {
        if (last != static_cast<unsigned char>(number)) {
            fail("has the wrong last byte");
        } else if (number == hello_number && next_ == share_.first) {
            is_greeted_ = true;
        } else {
            fail("is lost, duplicate or out of order");
        }
    }

    const std::size_t message_bytes_;
    const Share share_;
    std::uint64_t next_;
    bool is_greeted_ = false;
    const char* fault_ = nullptr;
};

}  // namespace telegate::perf
