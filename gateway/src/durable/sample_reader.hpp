#pragma once

#include "base/topic_filter.hpp"
#include "durable/log_history.hpp"
#include "durable/sample_page.hpp"
#include "line/history.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

namespace telegate {

/// The objects that a SampleReader reads. All must outlive it.
struct SampleSources {
    const History& history;
    SampleText& text;           // of this epoch
    LogHistory* log = nullptr;  // null: no log
};

/// Reads published samples in order, from the history and, where it no longer has them, from the durable log. Never
/// waits: a page of the log arrives later.
///
/// Threads: one at a time.
/// Limits:  one page in memory, and one request to the log at a time.
/// Failure: read() may throw std::bad_alloc. All missing samples are listed in the pages. While too many requests
///          to the log are pending, and if the log is late, read() has to be repeated later.
class SampleReader {
  public:
    using Start = SampleStart;
    enum class Result : std::uint8_t {
        page,           // there may be more
        waiting,        // for the log: `wake` will be called
        late,           // the log is behind or busy: repeat the call later
        end,            // everything published in this epoch so far was read
        ended,          // an earlier epoch was read, which ended cleanly
        crashed,        // an earlier epoch was read, and samples at its end may be missing
        unknown_epoch,  // the log has no data from the epoch
        failed,         // the log cannot be read
    };

    /// `wake` is called on tg-log-read when a page has arrived, even after the end of the reader.
    SampleReader(SampleSources sources, SampleSelection selection, const Start& start, std::function<void()> wake);

    /// Replaces the page by the next one. Unless the result is Result::page, the page is empty.
    [[nodiscard]] Result read(SamplePage& page);
    [[nodiscard]] std::uint64_t position() const noexcept { return start_.position; }
    [[nodiscard]] std::int64_t epoch_ms() const noexcept { return start_.epoch_ms; }
    /// Returns the next epoch in the log, after an earlier epoch was read or is unknown; 0: none.
    [[nodiscard]] std::int64_t next_epoch_ms() const noexcept { return next_epoch_ms_; }

  private:
    /// A page that was requested from the log. Shared with tg-log-read.
    struct Arrival {
        std::atomic<bool> is_there{false};  // set after the page is complete
        SamplePage page;
    };

    [[nodiscard]] bool is_in_history() const noexcept;
    [[nodiscard]] Result read_history(SamplePage& page);
    [[nodiscard]] Result request_log();
    [[nodiscard]] Result read_arrival(SamplePage& page);

    const SampleSources sources_;
    const std::shared_ptr<const SampleSelection> selection_;
    TopicFilter filter_;  // for the history
    Start start_;         // of the next page
    const std::function<void()> wake_;
    std::shared_ptr<Arrival> arrival_;  // null: no request is pending
    bool is_at_history_ = false;        // the last page of the log ended where the history began
    std::optional<Result> over_;        // the result after the last page
    std::int64_t next_epoch_ms_ = 0;
    std::array<TelemetrySample, 128> read_{};
};

}  // namespace telegate
