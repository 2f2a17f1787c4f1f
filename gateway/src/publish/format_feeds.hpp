#pragma once

#include "publish/format_feed.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace telegate {

using NoticesByFormat = std::array<NoticeTotals, payload_formats>;  // index: PayloadFormat

/// The feeds of the formats that have an endpoint.
///
/// Threads: the publishers'.
/// Limits:  one feed per format. Failure: publish_to() may throw std::bad_alloc, and then changes nothing.
class FormatFeeds {
  public:
    explicit FormatFeeds(FormatFeed::Parts parts) : parts_(std::move(parts)) {}

    /// Replaces the formats. A format that stays keeps its feed.
    void publish_to(std::span<const FormatPublisher> publishers);
    [[nodiscard]] const std::vector<std::unique_ptr<FormatFeed>>& feeds() const noexcept { return feeds_; }

    /// Publishes in all formats that a silent channel has reached `seq`.
    void heartbeat(ChannelId channel, std::uint64_t seq);
    void flush();
    /// Appends the payload of a sample in a format; nothing when no endpoint has the format.
    void append(PayloadFormat format, std::string& out, const TelemetrySample& sample);
    /// Notices published since the start, including those of formats that no endpoint has any more.
    [[nodiscard]] NoticesByFormat notices() const noexcept;

  private:
    const FormatFeed::Parts parts_;
    std::vector<std::unique_ptr<FormatFeed>> feeds_;
    NoticesByFormat removed_{};  // notices of feeds that are no more
};

}  // namespace telegate
