#include "line/history.hpp"

#include <utility>

namespace telegate {
namespace {

const SystemClock system_clock;

}  // namespace

History::History(std::size_t bytes, Duration age_max, const Clock* clock, std::size_t per_channel)
    : clock_(clock != nullptr ? *clock : system_clock),
      writer_(prepare({bytes, age_max, per_channel})),
      buffer_(writer_) {}

void History::replace(std::shared_ptr<HistoryBuffer> buffer) noexcept {
    buffer->take_over(*writer_);
    writer_ = std::move(buffer);
    std::shared_ptr<const HistoryBuffer> before = writer_;
    {
        const std::lock_guard lock(mutex_);
        buffer_.swap(before);
    }
}

std::shared_ptr<const HistoryBuffer> History::buffer() const noexcept {
    const std::lock_guard lock(mutex_);
    return buffer_;
}

std::shared_ptr<const KeptSamples> History::kept() const noexcept {
    const auto buffer = this->buffer();
    return buffer->kept() == nullptr ? nullptr : std::shared_ptr<const KeptSamples>(buffer, buffer->kept());
}

}  // namespace telegate
