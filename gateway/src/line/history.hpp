#pragma once

#include "line/history_buffer.hpp"
#include "line/sample_consumer.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>

namespace telegate {

/// The most recent samples in the order of publication; each has a position, counted from 0 at the start. Its size can
/// change: another buffer then replaces the present one and takes over its samples. See HistoryBuffer.
///
/// Threads: consume(), gap() and replace(): one; the rest: any. A reader never blocks the writer.
/// Limits, Failure: those of HistoryBuffer; while the size changes, both buffers use memory.
class History final : public SampleConsumer {
  public:
    using Read = HistoryRead;

    /// See HistoryLimits. `clock` must outlive the history; null: the system clock.
    explicit History(std::size_t bytes, Duration age_max = Duration(0), const Clock* clock = nullptr,
                     std::size_t per_channel = 0);

    [[nodiscard]] std::string_view name() const noexcept override { return "history"; }
    void consume(std::span<const TelemetrySample> samples) noexcept override { writer_->consume(samples); }
    void gap(const SampleGap& gap) noexcept override { missing_ += gap.samples(); }
    [[nodiscard]] ConsumerLedger ledger() const noexcept override { return {writer_->position(), missing_}; }

    /// Returns an empty buffer for replace(). Threads: any.
    [[nodiscard]] std::shared_ptr<HistoryBuffer> prepare(const HistoryLimits& limits) const {
        return std::make_shared<HistoryBuffer>(limits, clock_);
    }
    /// Continues with a prepared buffer, to which it copies the samples: at most about 0.1 s for each 100 MiB.
    void replace(std::shared_ptr<HistoryBuffer> buffer) noexcept;

    /// The following functions are those of the buffer.
    [[nodiscard]] std::uint64_t position() const noexcept { return buffer()->position(); }
    [[nodiscard]] std::uint64_t oldest() const noexcept { return buffer()->oldest(); }
    [[nodiscard]] std::uint64_t first() const noexcept { return buffer()->first(); }
    [[nodiscard]] std::uint64_t first_since(MonoTime time) const noexcept { return buffer()->first_since(time); }
    [[nodiscard]] std::uint64_t first_since_utc(std::int64_t time_utc_ns) const noexcept {
        return buffer()->first_since_utc(time_utc_ns);
    }
    [[nodiscard]] std::size_t capacity() const noexcept { return buffer()->capacity(); }
    [[nodiscard]] Read read(std::uint64_t position, std::span<TelemetrySample> out) const noexcept {
        return buffer()->read(position, out);
    }
    /// Returns null without HistoryLimits::per_channel.
    [[nodiscard]] std::shared_ptr<const KeptSamples> kept() const noexcept;

  private:
    [[nodiscard]] std::shared_ptr<const HistoryBuffer> buffer() const noexcept;

    const Clock& clock_;
    std::shared_ptr<HistoryBuffer> writer_;  // for the writer, without the mutex
    mutable std::mutex mutex_;               // guards buffer_; held only to copy it
    std::shared_ptr<const HistoryBuffer> buffer_;
    std::uint64_t missing_ = 0;  // for the writer
};

}  // namespace telegate
