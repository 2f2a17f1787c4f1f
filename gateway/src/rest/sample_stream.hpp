#pragma once

#include "base/topic_filter.hpp"
#include "encode/sample_text.hpp"
#include "http/http_message.hpp"
#include "line/history.hpp"
#include "line/sample_cursor.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace telegate {

/// Where a stream of samples is, as its ids say: the gateway's start and a position in the history.
struct StreamPosition {
    std::int64_t epoch_ms = 0;
    std::uint64_t position = 0;

    bool operator==(const StreamPosition&) const = default;
};

/// Samples from the history as server-sent events, see docs/rest.md.
///
/// Threads: one at a time, the one that pulls.
/// Limits:  samples_per_pull_max looked at in one call; a byte per channel that came by.
/// Failure: pull() may throw std::bad_alloc.
class SampleStream {
  public:
    static constexpr std::size_t samples_per_pull_max = 4'096;
    static constexpr std::size_t prefixes_max = 16;

    /// Begins at `next`, a position of this epoch. No prefixes: all samples.
    SampleStream(const History& history, SampleText& text, std::vector<std::string> prefixes, std::uint64_t next);

    /// The first event says that the client was in another epoch, of which it `missed` so many samples, if that is
    /// known.
    void tell_restart(std::optional<std::uint64_t> missed);
    /// `ends`: what was published by now is all there will be.
    [[nodiscard]] StreamState pull(std::string& out, std::size_t bytes_max, bool ends = false);

  private:
    struct Restart {
        std::optional<std::uint64_t> missed;
    };
    /// Positions that are not held, among others that no prefix matches.
    struct Gap {
        std::uint64_t missed = 0;
        std::uint64_t first = 0;
        std::uint64_t last = 0;
    };

    [[nodiscard]] std::string id_of(std::uint64_t position) const;
    void add_restart(std::string& out);
    void note_missed(std::uint64_t missed) noexcept;
    void add_gap(std::string& out);
    void add_id(std::string& out) const;
    void add_end(std::string& out) const;
    [[nodiscard]] StreamState pull_some(std::string& out, std::size_t out_max);
    /// Samples of what was read until `bytes_max` is reached. How many were looked at.
    std::size_t add_samples(std::string& out, std::size_t count, std::size_t bytes_max);

    const History& history_;
    SampleText& text_;
    TopicFilter filter_;
    SampleCursor cursor_;
    std::uint64_t told_;              // up to here the client knows where it is
    std::uint64_t sent_ = 0;          // samples
    std::uint64_t missed_ = 0;        // of all channels
    std::optional<Restart> restart_;  // to be told
    Gap gap_;                         // to be told before the next sample
    std::array<TelemetrySample, 256> read_{};
};

}  // namespace telegate
