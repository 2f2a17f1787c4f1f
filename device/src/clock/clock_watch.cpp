#include "device/clock_watch.hpp"

#include <cstdlib>
#include <utility>

namespace telegate {

std::string_view to_string(ClockSync sync) noexcept {
    switch (sync) {
        case ClockSync::unknown: return "unknown";
        case ClockSync::unsynchronized: return "unsynchronized";
        case ClockSync::synchronized: return "synchronized";
    }
    return "";
}

ClockWatch::ClockWatch(std::unique_ptr<ClockSource> source) : source_(std::move(source)) {
    read_clock();
}

ClockStatus ClockWatch::read() {
    const std::lock_guard lock(mutex_);
    read_clock();
    return status_;
}

ClockStatus ClockWatch::status() const {
    const std::lock_guard lock(mutex_);
    return status_;
}

bool ClockWatch::is_unsynchronized(std::int64_t mono_ns) noexcept {
    if (mono_ns - read_at_ns_.load(std::memory_order_relaxed) > look_interval_ns) {
        const std::unique_lock lock(mutex_, std::try_to_lock);
        if (lock) {  // otherwise another thread is reading the clock
            read_clock();
        }
    }
    return is_unsynchronized_.load(std::memory_order_relaxed);
}

void ClockWatch::read_clock() noexcept {
    constexpr std::int64_t million = 1'000'000;
    constexpr double ns_per_second = 1e9;
    const ClockReading reading = source_->read();
    const std::int64_t offset_ns = reading.utc_ns - reading.mono_ns;
    const std::int64_t step_ns = offset_ns - status_.offset_ns;
    const std::int64_t apart_ns = reading.mono_ns - status_.reading.mono_ns;
    const std::int64_t noise_ns = reading.between_ns + status_.reading.between_ns;
    const std::int64_t slewed_ns = reading.was_set ? 0 : step_min_ns + apart_ns / million * step_ppm;
    if (has_reading_ && std::abs(step_ns) > noise_ns + slewed_ns) {
        const double seconds = static_cast<double>(step_ns) / ns_per_second;
        ++status_.steps;
        status_.stepped_s += seconds;
        status_.last_step = ClockStep{reading.utc_ns, seconds};
    }
    status_.offset_ns = offset_ns;
    status_.reading = reading;
    has_reading_ = true;
    read_at_ns_.store(reading.mono_ns, std::memory_order_relaxed);
    is_unsynchronized_.store(reading.sync == ClockSync::unsynchronized, std::memory_order_relaxed);
}

std::shared_ptr<ClockWatch> machine_clock_watch() {
    static const std::shared_ptr<ClockWatch> watch = std::make_shared<ClockWatch>();
    return watch;
}

}  // namespace telegate
