#pragma once

#include "line/history.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace telegate {

/// Reads the samples of the history in order, at its own speed. It never stops the writer, so it may be overtaken; then
/// it says which positions it missed.
///
/// Threads: one at a time, any. Limits: none of its own. Failure: none.
class SampleCursor {
  public:
    /// Starts at `position`.
    SampleCursor(const History& history, std::uint64_t position) noexcept : history_(&history), position_(position) {}

    struct Read {
        std::size_t count = 0;     // samples copied; the first is at position()
        std::uint64_t missed = 0;  // positions skipped before that, because they are no longer held
        [[nodiscard]] bool at_end() const noexcept { return count == 0 && missed == 0; }
    };
    /// Copies the next samples, skipping what is no longer held. advance() then moves past those that were used.
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
