#pragma once

#include "splice.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace telegate::tail {

/// Takes messages of a publish endpoint apart and hands what is in them to the splice. The format is found out from the
/// payload; that of the last message is tried first, since an endpoint has one.
///
/// Threads: one. Limits: payload_bytes_max and topic_bytes_max; what is over them is not understood.
/// Failure: a message that is not understood is counted; its samples show as a hole.
class LiveReader {
  public:
    explicit LiveReader(Splice& splice) noexcept;

    void read(std::string_view topic, std::string_view payload);

    [[nodiscard]] std::uint64_t not_understood() const noexcept { return not_understood_; }
    /// Of the last such message.
    [[nodiscard]] const std::string& strange_topic() const noexcept { return strange_topic_; }

    /// A gateway's are 129 bytes at most, and 5 of a notice.
    static constexpr std::size_t topic_bytes_max = 256;

  private:
    struct Format;
    static const std::array<Format, 3> formats;

    [[nodiscard]] bool read_as(const Format& format, std::string_view topic, std::string_view payload);

    Splice* splice_;
    const Format* format_;
    std::uint64_t not_understood_ = 0;
    std::string strange_topic_;
};

}  // namespace telegate::tail
