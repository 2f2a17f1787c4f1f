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

/// The feeds of all formats that have an endpoint.
///
/// Threads: the publishers'.
/// Limits: one feed per format.
/// Failure: publish_to() may throw std::bad_alloc; it then changes nothing.
class FormatFeeds {
  public:
    explicit FormatFeeds(FormatFeed::Parts parts) : parts_(std::move(parts)) {}

    /// Replaces the formats. A format that remains keeps its feed.
    void publish_to(std::span<const FormatPublisher> publishers);
    /// Replaces the labels of the samples that follow.
    void set_labels(const SharedLabels& labels);
    [[nodiscard]] const std::vector<std::unique_ptr<FormatFeed>>& feeds() const noexcept { return feeds_; }

    /// Publishes a heartbeat notice in all formats: an idle channel has reached `seq`.
    void heartbeat(ChannelId channel, std::uint64_t seq);
    void flush();
    /// Appends the payload of a sample in a format, or nothing if no endpoint has the format.
    void append(PayloadFormat format, std::string& out, const TelemetrySample& sample);
    /// Returns the notices published since the start, including those of formats without an endpoint now.
    [[nodiscard]] NoticesByFormat notices() const noexcept;

  private:
    FormatFeed::Parts parts_;
    std::vector<std::unique_ptr<FormatFeed>> feeds_;
    NoticesByFormat removed_{};  // notices of removed feeds
};

}  // namespace telegate
