#include "log.hpp"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <utility>

namespace telegate {

Log::Log(std::string_view level) {
    auto logger = std::make_shared<spdlog::logger>("telegate", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    logger->set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %l %v", spdlog::pattern_time_type::utc);
    logger->set_level(spdlog::level::from_str(std::string(level)));
    spdlog::set_default_logger(std::move(logger));
}

void Log::info(const std::string& line) const {
    spdlog::info("{}", line);
}

void Log::warn(const std::string& line) const {
    spdlog::warn("{}", line);
}

void Log::warn_limited(std::string_view cause, const std::string& line) {
    if (const auto held_back = limiter_.admit(cause)) {
        warn(*held_back == 0 ? line : line + " repeated=" + std::to_string(*held_back));
    }
}

}  // namespace telegate
