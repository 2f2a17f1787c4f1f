#include "log.hpp"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>

namespace telegate {

Log::Log(std::string_view level) {
    auto logger = std::make_shared<spdlog::logger>("telegate", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    logger->set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %l %v", spdlog::pattern_time_type::utc);
    logger->set_level(spdlog::level::from_str(std::string(level)));
    logger->flush_on(spdlog::level::trace);
    spdlog::set_default_logger(std::move(logger));
}

void Log::debug(const std::string& line) const {
    spdlog::debug("{}", line);
}
void Log::info(const std::string& line) const {
    spdlog::info("{}", line);
}
void Log::warn(const std::string& line) const {
    spdlog::warn("{}", line);
}
void Log::error(const std::string& line) const {
    spdlog::error("{}", line);
}

void Log::warn_limited(std::string_view cause, const std::string& line) {
    if (const auto suppressed = admit(cause)) {
        warn(*suppressed == 0 ? line : line + " repeated=" + std::to_string(*suppressed));
    }
}

std::optional<std::uint64_t> Log::admit(std::string_view cause) {
    const auto now = std::chrono::steady_clock::now();
    const std::lock_guard lock(mutex_);
    auto known = causes_.find(cause);
    if (known == causes_.end()) {
        if (causes_.size() == causes_max) {
            cause = "other";  // one cause for all beyond the limit
        }
        known = causes_.try_emplace(std::string(cause), Cause{now - quiet_time, 0}).first;
    }
    Cause& entry = known->second;
    if (now - entry.last < quiet_time) {
        ++entry.suppressed;
        return std::nullopt;
    }
    entry.last = now;
    return std::exchange(entry.suppressed, 0);
}

}  // namespace telegate
