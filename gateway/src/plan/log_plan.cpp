#include "plan/log_plan.hpp"

#include <string>

namespace telegate {
namespace {

constexpr std::int64_t bytes_least = 1'048'576;
constexpr std::int64_t ns_per_ms = 1'000'000;

store::WhenFull when_full(const std::string& name) {
    if (name == "drop_newest") {
        return store::WhenFull::drop_newest;
    }
    return name == "block" ? store::WhenFull::block : store::WhenFull::drop_oldest;
}

}  // namespace

DurableLogOptions plan_log(const Settings& settings, std::vector<SettingsProblem>& problems) {
    const LogSettings& log = settings.log;
    if (log.bytes_max > 0 && log.bytes_max < bytes_least) {
        problems.push_back({{},
                            "bytes_max",
                            '"' + std::to_string(log.bytes_max) + "\" is too small: must be 0, or " +
                                std::to_string(bytes_least) + " or more",
                            "log.bytes_max"});
    }
    DurableLogOptions options;
    options.path = log.path;
    options.limits.bytes_max = static_cast<std::uint64_t>(log.bytes_max);
    options.limits.age_max_ns = log.age_max_ms * ns_per_ms;
    options.limits.free_bytes_min = static_cast<std::uint64_t>(log.free_bytes_min);
    options.limits.when_full = when_full(log.when_full);
    options.sync_interval = std::chrono::milliseconds(log.sync_interval_ms);
    return options;
}

}  // namespace telegate
