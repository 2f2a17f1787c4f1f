#include "tick_record.hpp"

#include "../statistics.hpp"

namespace telegate::perf {

TickRecord::TickRecord(Duration interval, std::uint64_t ticks)
    : interval_(interval), ticks_(ticks), lateness_ns_(ticks) {  // written once, so that no page is new when it counts
    lateness_ns_.clear();
}

void TickRecord::begin(MonoTime start) noexcept {
    due_ = start;
}

void TickRecord::serve(MonoTime now) noexcept {
    const auto passed = (now - due_) / interval_;
    lateness_ns_.push_back((now - due_).count());
    missed_ += static_cast<std::uint64_t>(passed);
    due_ += (passed + 1) * interval_;
}

double TickRecord::lateness_at(double share) const {
    std::vector<std::int64_t> lateness(lateness_ns_);
    return static_cast<double>(quantile(lateness, share));
}

}  // namespace telegate::perf
