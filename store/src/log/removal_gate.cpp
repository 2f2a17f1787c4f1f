#include "store/removal_gate.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>

namespace telegate::store {
namespace {

/// The kernel slews both clocks together. This allows for leap seconds and for kernels that do not.
constexpr std::int64_t step_min_ns = 2'000'000'000;
constexpr std::int64_t drift_ppm = 500;
constexpr std::int64_t million = 1'000'000;

}  // namespace

bool is_disk_full(const std::system_error& error) noexcept {
    return error.code() == std::errc::no_space_on_device ||
           error.code() == std::error_code(EDQUOT, std::generic_category());
}

std::string_view to_string(SpaceProblem problem) noexcept {
    switch (problem) {
        case SpaceProblem::none: return "none";
        case SpaceProblem::no_gain: return "no_gain";
        case SpaceProblem::undelivered: return "undelivered";
    }
    return "";
}

bool RemovalGate::was_useful(const Request& request) const noexcept {
    const std::uint64_t freed = request.free_bytes && *request.free_bytes > last_->free_bytes_before
                                    ? *request.free_bytes - last_->free_bytes_before
                                    : 0;
    return written_ + freed >= last_->bytes / 2;
}

bool RemovalGate::refuse(SpaceProblem problem, std::int64_t mono_ns) noexcept {
    problem_ = problem;
    refused_mono_ns_ = mono_ns;
    return false;
}

bool RemovalGate::allows(const Request& request) noexcept {
    if (last_ && was_useful(request)) {
        last_.reset();
        wait_ = {};
        floor_bytes_ = 0;
    }
    if (last_) {
        if (!is_counted_) {
            is_counted_ = true;
            wait_ = std::clamp(2 * wait_, wait_min, wait_max);
        }
        if (request.mono_ns - last_->mono_ns < wait_.count() ||
            request.log_bytes < floor_bytes_ + request.oldest_bytes) {
            return refuse(SpaceProblem::no_gain, request.mono_ns);
        }
    }
    floor_bytes_ = std::max(floor_bytes_, request.log_bytes / 2);
    if (!request.is_undelivered) {
        undelivered_since_ns_.reset();
        return true;
    }
    if (request.mono_ns - refused_mono_ns_ >= shown_time.count()) {
        undelivered_since_ns_.reset();  // that lack of space has ended
    }
    undelivered_since_ns_ = undelivered_since_ns_.value_or(request.mono_ns);
    if (request.mono_ns - *undelivered_since_ns_ < undelivered_wait.count()) {
        return refuse(SpaceProblem::undelivered, request.mono_ns);
    }
    return true;
}

void RemovalGate::record_removed(const Removal& removal) noexcept {
    last_ = removal;
    written_ = 0;
    is_counted_ = false;
    undelivered_since_ns_.reset();
}

SpaceProblem RemovalGate::problem(std::int64_t mono_ns) const noexcept {
    return mono_ns - refused_mono_ns_ < shown_time.count() ? problem_ : SpaceProblem::none;
}

bool WallClockTrust::check(const ClockPair& now, bool is_unsynchronized) noexcept {
    bool is_doubtful = is_unsynchronized || !last_;
    if (last_) {
        const std::int64_t offset_change_ns = (now.utc_ns - now.mono_ns) - (last_->utc_ns - last_->mono_ns);
        const std::int64_t apart_ns = now.mono_ns - last_->mono_ns;
        const std::int64_t noise_ns = now.between_ns + last_->between_ns + apart_ns / million * drift_ppm;
        is_doubtful = is_doubtful || std::abs(offset_change_ns) > step_min_ns + noise_ns;
    }
    last_ = now;
    if (is_doubtful) {
        doubted_mono_ns_ = now.mono_ns;
    }
    return now.mono_ns - doubted_mono_ns_ >= settling_time.count();
}

}  // namespace telegate::store
