#include "line/pump_watch.hpp"

#include <algorithm>

namespace telegate {

PumpWatch::PumpWatch(Reactor& reactor, const Clock& clock, const Pump& pump)
    : reactor_(reactor), clock_(clock), pump_(pump) {}

PumpReport PumpWatch::check(std::chrono::milliseconds patience) {
    std::unique_lock lock(mutex_);
    if (!posted_at_) {
        const MonoTime now = clock_.mono_now();
        reactor_.post([this] { answer(); });
        posted_at_ = now;
    }
    const MonoTime asked_at = *posted_at_;
    const std::uint64_t answers_before = answers_;
    const auto is_answered = [&] {
        return answers_ != answers_before;
    };
    // A loop that has not responded for `patience` is not waited for again.
    const Duration left = asked_at + patience - clock_.mono_now();
    if (answered_.wait_for(lock, std::max(left, Duration(0)), is_answered)) {
        return {.silent = Duration(0), .stalled = stalled_};
    }
    return {.silent = clock_.mono_now() - asked_at, .stalled = stalled_};
}

void PumpWatch::answer() {
    const std::lock_guard lock(mutex_);
    const MonoTime now = clock_.mono_now();
    const std::uint64_t taken = pump_.taken();
    if (!pump_.has_work()) {
        stalled_since_.reset();
    } else if (!stalled_since_ || taken != taken_before_) {
        stalled_since_ = now;
    }
    taken_before_ = taken;
    stalled_ = stalled_since_ ? now - *stalled_since_ : Duration(0);
    posted_at_.reset();
    ++answers_;
    answered_.notify_all();
}

}  // namespace telegate
