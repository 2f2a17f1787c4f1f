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

/// The position of a sample stream, as in its event ids: the start of the gateway and a position in the history.
struct StreamPosition {
    std::int64_t epoch_ms = 0;
    std::uint64_t position = 0;

    bool operator==(const StreamPosition&) const = default;
};

/// Samples from the history as server-sent events; see docs/rest.md.
///
/// Threads: one at a time, the one that pulls.
/// Limits: checks samples_per_pull_max samples per call; uses a byte per channel seen.
/// Failure: pull() may throw std::bad_alloc.
class SampleStream {
  public:
    static constexpr std::size_t samples_per_pull_max = 4'096;
    static constexpr std::size_t prefixes_max = 16;

    /// Starts at `next`, a position of this epoch. No prefixes: all samples.
    SampleStream(const History& history, SampleText& text, std::vector<std::string> prefixes, std::uint64_t next);

    /// Makes the first event report a restart: the client was in another epoch, in which it `missed` that many samples,
    /// if known.
    void tell_restart(std::optional<std::uint64_t> missed);
    /// Appends events. `ends`: no samples will be published after the current ones.
    [[nodiscard]] StreamState pull(std::string& out, std::size_t bytes_max, bool ends = false);

  private:
    struct Restart {
        std::optional<std::uint64_t> missed;
    };
    /// Samples that are no longer retained, including some that match no prefix.
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
    /// Appends the samples in read_ until `bytes_max` is reached. Returns the number of samples checked.
    std::size_t add_samples(std::string& out, std::size_t count, std::size_t bytes_max);

    const History& history_;
    SampleText& text_;
    TopicFilter filter_;
    SampleCursor cursor_;
    std::uint64_t told_;              // the position up to which the client has an id
    std::uint64_t sent_ = 0;          // samples
    std::uint64_t missed_ = 0;        // of all channels
    std::optional<Restart> restart_;  // to be reported
    Gap gap_;                         // to be reported before the next sample
    std::array<TelemetrySample, 256> read_{};
};

}  // namespace telegate
