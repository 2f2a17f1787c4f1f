#pragma once

#include "config/payload_format.hpp"
#include "merger.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace telegate::tail {

/// Parses the messages of a publish endpoint and passes the samples and notices to the merger. The format is detected
/// from the payload; the format of the last message is tried first, because an endpoint uses only one.
///
/// Threads: one.
/// Limits: payload_bytes_max and topic_bytes_max; larger messages are not parsed.
/// Failure: a message that cannot be parsed is counted; its samples appear as a gap.
class LiveReader {
  public:
    explicit LiveReader(Merger& merger) noexcept : merger_(&merger) {}

    void read(std::string_view topic, std::string_view payload);

    [[nodiscard]] std::uint64_t not_understood() const noexcept { return not_understood_; }
    /// Returns the topic of the first message that could not be parsed.
    [[nodiscard]] const std::string& strange_topic() const noexcept { return strange_topic_; }

    /// Topics of a gateway are at most 129 bytes long, plus 5 for a notice.
    static constexpr std::size_t topic_bytes_max = 256;

  private:
    Merger* merger_;
    PayloadFormat format_ = PayloadFormat::json;
    std::uint64_t not_understood_ = 0;
    std::string strange_topic_;
};

}  // namespace telegate::tail
