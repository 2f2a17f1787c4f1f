#include "processing/send_gate.hpp"

namespace telegate::processing {
namespace {

constexpr double percent = 0.01;

}  // namespace

SendGate::SendGate(const ChannelProcessing& processing) noexcept
    : deadband_(processing.deadband),
      deadband_share_(processing.deadband_percent * percent),
      silence_ns_(processing.send_interval_max.count()),
      interval_ns_(processing.send_interval_min.count()),
      early_ns_(interval_ns_ / early_share),
      has_deadband_(deadband_ > 0.0 || deadband_share_ > 0.0) {}

void SendGate::continue_from(const SendGate& before) noexcept {
    sent_value_ = before.sent_value_;
    sent_ns_ = before.sent_ns_;
    due_ns_ = before.due_ns_;
    has_sent_ = before.has_sent_;
    has_sent_value_ = before.has_sent_value_;
    sent_quality_ = before.sent_quality_;
}

}  // namespace telegate::processing
