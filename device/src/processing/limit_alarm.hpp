#pragma once

#include "device/processing.hpp"
#include "processing/reading.hpp"

#include <cstdint>
#include <limits>
#include <optional>

namespace telegate::processing {

/// Watches whether values are above one limit or below another.
///
/// A value beyond a limit crosses it. A value that is within the limit by the hysteresis crosses it back. A crossing
/// takes effect when it has lasted for its delay without interruption. A reading without a usable value interrupts it
/// and leaves the state unchanged, but with quality bad until the next usable value.
///
/// The state is unknown at first. It becomes high or low after values beyond that limit for the delay, and normal after
/// values within both limits by the hysteresis for the clear delay. While values are beyond a limit, the state normal
/// is uncertain at best.
///
/// Threads: one. Limits: no allocation. Failure: none.
class LimitAlarm {
  public:
    explicit LimitAlarm(const ChannelProcessing& processing) noexcept;

    /// Continues with the state of another alarm, but with the limits of this alarm. A pending crossing continues only
    /// if the last value `means_same` and also crosses the limits of this alarm. Otherwise it ends, and the next value
    /// can begin it again.
    void continue_from(const LimitAlarm& before, bool means_same = true) noexcept;

    /// Returns whether the state must be reported: it or its quality has changed, or it has not been reported for the
    /// maximum send interval.
    [[nodiscard]] bool watch(const Reading& reading) noexcept;
    /// Like watch(), when time has passed without a reading.
    [[nodiscard]] bool advance(std::int64_t time_ns) noexcept;

    /// Begins the delay of a pending crossing again, when times continue on another clock.
    void restart_delay(std::int64_t time_ns) noexcept { memory_.since_ns = time_ns; }

    /// Returns whether the last reading began or broke a crossing.
    [[nodiscard]] bool crosses() const noexcept { return memory_.crosses; }
    [[nodiscard]] AlarmState state() const noexcept { return memory_.state; }
    /// Returns bad if the last reading had no usable value.
    [[nodiscard]] Quality quality() const noexcept;
    /// Returns the last usable value.
    [[nodiscard]] double value() const noexcept { return memory_.value; }
    /// Returns the crossed limit; nullopt if the state is normal or unknown, or if the settings no longer have the
    /// limit.
    [[nodiscard]] std::optional<double> limit() const noexcept;
    /// Returns when the pending crossing will have lasted for its delay; the maximum if none is pending.
    [[nodiscard]] std::int64_t due_ns() const noexcept {
        return crosses_now() ? memory_.since_ns + delay_of(memory_.seen) : std::numeric_limits<std::int64_t>::max();
    }

  private:
    /// Everything except the settings.
    struct Memory {
        AlarmState state = AlarmState::unknown;
        AlarmState seen = AlarmState::unknown;  // the state of the last values, before any delay
        std::int64_t since_ns = 0;              // when values entered `seen`
        double value = 0.0;
        bool crosses = false;
        bool is_confirmed = false;       // by values since the start; until then the state is that of the previous run
        Quality quality = Quality::bad;  // of the last reading

        bool has_reported = false;
        AlarmState reported_state = AlarmState::unknown;
        Quality reported_quality = Quality::bad;
        bool reported_crossing = false;
        std::int64_t reported_ns = 0;
    };

    [[nodiscard]] bool crosses_now() const noexcept { return memory_.seen != memory_.state; }
    /// Returns whether an alarm that is high, or low, stays so.
    [[nodiscard]] bool is_near_high(double value) const noexcept { return value > high_ - hysteresis_; }
    [[nodiscard]] bool is_near_low(double value) const noexcept { return value < low_ + hysteresis_; }
    [[nodiscard]] AlarmState zone_of(double value) const noexcept;
    [[nodiscard]] std::int64_t delay_of(AlarmState state) const noexcept {
        return state == AlarmState::normal ? clear_delay_ns_ : delay_ns_;
    }
    void settle(std::int64_t time_ns) noexcept;
    [[nodiscard]] bool reports(std::int64_t time_ns) noexcept;

    const double high_;
    const double low_;
    const double hysteresis_;
    const std::int64_t delay_ns_;
    const std::int64_t clear_delay_ns_;
    const std::int64_t silence_ns_;
    Memory memory_;
};

}  // namespace telegate::processing
