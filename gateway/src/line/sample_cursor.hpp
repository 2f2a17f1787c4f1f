#pragma once

#include "line/history.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace telegate {

/// Reads the samples of the history in order, at its own speed. It never blocks the writer, which may overtake it; it
/// then reports the missed positions.
///
/// Threads: any, one at a time. Limits: none of its own. Failure: none.
class SampleCursor {
  public:
    /// Starts at `position`.
    SampleCursor(const History& history, std::uint64_t position) noexcept : history_(&history), position_(position) {}

    struct Read {
        std::size_t count = 0;     // samples copied; the first is at position()
        std::uint64_t missed = 0;  // skipped positions before that, which are no longer held
        [[nodiscard]] bool at_end() const noexcept { return count == 0 && missed == 0; }
    };
    /// Copies the next samples and skips positions that are no longer held. Call advance() with the number of samples
    /// used.
    [[nodiscard]] Read read(std::span<TelemetrySample> out) noexcept {
        const History::Read read = history_->read(position_, out);
        position_ += read.missed;
        return {read.count, read.missed};
    }
    void advance(std::size_t samples) noexcept { position_ += samples; }
    [[nodiscard]] std::uint64_t position() const noexcept { return position_; }

  private:
    const History* history_;
    std::uint64_t position_;
};

}  // namespace telegate
