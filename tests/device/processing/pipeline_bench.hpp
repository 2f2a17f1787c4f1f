#pragma once

#include "processing/channel_pipeline.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace telegate::test {

[[nodiscard]] inline ChannelProcessing with_deadband(double absolute, double percent = 0.0, Duration silence = {}) {
    ChannelProcessing how;
    how.deadband = absolute;
    how.deadband_percent = percent;
    how.send_interval_max = silence;
    return how;
}

/// A pipeline with readings at times in milliseconds.
class PipelineBench {
  public:
    explicit PipelineBench(const ChannelProcessing& processing) : pipeline_(processing) {}

    static std::int64_t ns(std::int64_t ms) { return ms * 1'000'000; }

    processing::Outcome process(std::int64_t ms, double value, Quality quality = Quality::good) {
        return keep(pipeline_.process({value, ns(ms), quality}));
    }
    processing::Outcome absent(std::int64_t ms, Quality quality = Quality::bad) {
        return keep(pipeline_.process_absent(ns(ms), quality));
    }
    processing::Outcome logical(std::int64_t ms, bool value) {
        return keep(pipeline_.process_logical({value ? 1.0 : 0.0, ns(ms)}));
    }
    processing::Outcome text(std::int64_t ms) { return keep(pipeline_.process_text({0.0, ns(ms)})); }
    processing::Outcome advance(std::int64_t ms) { return keep(pipeline_.advance(ns(ms))); }

    /// Returns what was sent for some values, one every ms.
    std::vector<double> sent_of(const std::vector<double>& values) {
        std::vector<double> sent;
        for (const double value : values) {
            const processing::Outcome outcome = process(++now_ms_, value);
            if (!outcome.suppressed) {
                sent.push_back(outcome.reading.value);
            }
        }
        return sent;
    }

    [[nodiscard]] processing::ChannelPipeline& pipeline() { return pipeline_; }
    [[nodiscard]] const processing::WindowResult& window() const { return pipeline_.window(); }
    [[nodiscard]] const std::vector<std::string>& alarms() const { return alarms_; }

  private:
    processing::Outcome keep(const processing::Outcome& outcome) {
        if (outcome.alarm_tells) {
            const bool is_known = pipeline_.alarm().quality() != Quality::bad;
            alarms_.emplace_back(is_known ? to_string(pipeline_.alarm().state()) : "unknown");
        }
        return outcome;
    }

    processing::ChannelPipeline pipeline_;
    std::int64_t now_ms_ = 0;
    std::vector<std::string> alarms_;  // as reported
};

inline bool is_sent(const processing::Outcome& outcome) {
    return !outcome.suppressed.has_value();
}

inline bool is_held_back(const processing::Outcome& outcome, FilterReason reason) {
    return outcome.suppressed == reason;
}

}  // namespace telegate::test
