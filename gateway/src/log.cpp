#include "log.hpp"

#include "stderr_sink.hpp"

#include <spdlog/spdlog.h>
#include <unistd.h>

#include <memory>
#include <utility>

namespace telegate {

Log::Log(std::string_view level) {
    auto logger = std::make_shared<spdlog::logger>("telegate", std::make_shared<StderrSink>(STDERR_FILENO));
    logger->set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %l %v", spdlog::pattern_time_type::utc);
    logger->set_level(spdlog::level::from_str(std::string(level)));
    spdlog::set_default_logger(std::move(logger));
}

void Log::set_level(std::string_view level) {
    spdlog::set_level(spdlog::level::from_str(std::string(level)));
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

void Log::info_limited(std::string_view cause, const std::string& line) {
    if (const auto held_back = peers_.admit(cause)) {
        info(*held_back == 0 ? line : line + " repeated=" + std::to_string(*held_back));
    }
}

void Log::warn_limited(std::string_view cause, const std::string& line) {
    if (const auto held_back = warnings_.admit(cause)) {
        warn(*held_back == 0 ? line : line + " repeated=" + std::to_string(*held_back));
    }
}

}  // namespace telegate
