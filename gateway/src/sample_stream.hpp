#pragma once

#include "history.hpp"
#include "http_message.hpp"
#include "sample_text.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace telegate {

/// Where a stream of samples is, as its ids say: the gateway's start and a position in the history.
struct StreamPosition {
    std::int64_t epoch_ms = 0;
    std::uint64_t position = 0;
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

    /// Has the first event say that what came before belongs to another epoch.
    void tell_restart();
    [[nodiscard]] StreamState pull(std::string& out, std::size_t bytes_max);

  private:
    enum class Match : std::uint8_t { unknown, yes, no };

    [[nodiscard]] bool matches(ChannelId channel);
    [[nodiscard]] std::string id_of(std::uint64_t position) const;
    void add_gap(std::string& out, std::string_view reason, std::uint64_t missed);
    /// Samples of what was read until `bytes_max` is reached. How many were looked at.
    std::size_t add_samples(std::string& out, std::size_t count, std::size_t bytes_max);

    const History& history_;
    SampleText& text_;
    const std::vector<std::string> prefixes_;
    std::uint64_t next_;
    std::uint64_t told_;  // up to here the client knows where it is
    bool restarted_ = false;
    std::vector<Match> matches_;  // by channel
    std::array<TelemetrySample, 256> read_{};
};

}  // namespace telegate
