#pragma once

#include "durable/sample_reader.hpp"
#include "http/http_message.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
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

    struct Hooks {
        /// See RestHandlers.
        std::function<std::optional<std::uint64_t>(std::int64_t epoch_ms, std::uint64_t position,
                                                   std::int64_t before_ms)>
            published_from;
        /// Called on tg-log-read when pull() can continue.
        std::function<void()> wake;
    };
    /// Starts at a position. From an earlier epoch, it continues in the next one that the log has, and at last in this
    /// one. No prefixes: all samples.
    SampleStream(const SampleSources& sources, std::vector<std::string> prefixes, const StreamPosition& next,
                 Hooks hooks);

    /// Appends events. `ends`: no samples will be published after the current ones.
    [[nodiscard]] StreamState pull(std::string& out, std::size_t bytes_max, bool ends = false);

  private:
    /// Samples that are no longer retained, including some that match no prefix.
    struct Gap {
        std::uint64_t missed = 0;
        std::uint64_t first = 0;
        std::uint64_t last = 0;
        std::optional<store::GapReason> reason;
    };

    [[nodiscard]] std::string id_of(std::uint64_t position) const;
    void begin_next_epoch(std::string& out);
    [[nodiscard]] bool read_page(std::string& out, StreamState& state);
    void report_missed(std::string& out, const SamplePage::Missing& missing);
    void add_gap(std::string& out);
    void add_id(std::string& out) const;
    void add_end(std::string& out) const;
    [[nodiscard]] StreamState pull_some(std::string& out, std::size_t out_max);
    void add_samples(std::string& out, std::size_t out_max);

    const SampleSources sources_;
    const SampleSelection selection_;
    const Hooks hooks_;
    std::optional<SampleReader> reader_;
    SamplePage page_;
    std::size_t next_ = 0;          // sample of the page
    std::size_t next_missing_ = 0;  // of the page
    std::uint64_t position_;        // of the next sample
    std::uint64_t reported_;        // the position up to which the client has an id
    std::uint64_t sent_ = 0;        // samples
    std::uint64_t missed_ = 0;      // of all channels
    Gap gap_;                       // to be reported before the next sample
};

}  // namespace telegate
