#include "log/log.hpp"

#include "log/json_log_line.hpp"
#include "log/log_sink.hpp"
#include "log/log_value.hpp"

#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <utility>

namespace telegate {
namespace {

using Level = spdlog::level::level_enum;

/// spdlog's patterns know no JSON.
class JsonFormatter final : public spdlog::formatter {
  public:
    void format(const spdlog::details::log_msg& message, spdlog::memory_buf_t& out) override {
        spdlog::memory_buf_t time;
        time_.format(message, time);
        const auto level = spdlog::level::to_string_view(message.level);
        const std::string line = json_log_line({time.data(), time.size()}, {level.data(), level.size()},
                                               {message.payload.data(), message.payload.size()});
        out.append(line.data(), line.data() + line.size());
    }
    [[nodiscard]] std::unique_ptr<spdlog::formatter> clone() const override {
        return std::make_unique<JsonFormatter>();
    }

  private:
    spdlog::pattern_formatter time_{"%Y-%m-%dT%H:%M:%S.%eZ", spdlog::pattern_time_type::utc, ""};
};

std::unique_ptr<spdlog::formatter> make_formatter(std::string_view format) {
    if (format == "json") {
        return std::make_unique<JsonFormatter>();
    }
    return std::make_unique<spdlog::pattern_formatter>("%Y-%m-%dT%H:%M:%S.%eZ %l %v", spdlog::pattern_time_type::utc);
}

std::shared_ptr<LogSink> make_sink(const std::string& file) {
    if (!file.empty()) {
        return std::make_shared<LogSink>(file);
    }
    const char* const journal_stream = std::getenv("JOURNAL_STREAM");
    return std::make_shared<LogSink>(STDERR_FILENO,
                                     is_journal_stream(STDERR_FILENO, journal_stream != nullptr ? journal_stream : ""));
}

}  // namespace

struct Log::Output {
    explicit Output(const std::string& path) : file(path), sink(make_sink(file)), logger("telegate", sink) {}

    const std::string file;
    const std::shared_ptr<LogSink> sink;
    spdlog::logger logger;
};

Log::Log(const LogOptions& options) : output_(std::make_unique<Output>(options.file)) {
    output_->logger.set_formatter(make_formatter(options.format));
    output_->logger.set_level(spdlog::level::from_str(options.level));
}

Log::~Log() {
    for (const LogLine& line : repeated_.rest()) {
        output_->logger.log(static_cast<Level>(line.level), "{}", line.text);
    }
}

void Log::set_level(std::string_view level) const {
    output_->logger.set_level(spdlog::level::from_str(std::string(level)));
}

void Log::info(std::string_view line) const {
    write(Level::info, line);
}

void Log::warn(std::string_view line) const {
    write(Level::warn, line);
}

void Log::error(std::string_view line) const {
    write(Level::err, line);
}

bool Log::info_each(std::string_view line) const {
    return write_each(Level::info, line);
}

bool Log::warn_each(std::string_view line) const {
    return write_each(Level::warn, line);
}

bool Log::error_each(std::string_view line) const {
    return write_each(Level::err, line);
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

void Log::debug_limited(std::string_view cause, const std::string& line) {
    if (!has_debug()) {
        return;
    }
    if (const auto held_back = details_.admit(cause)) {
        write(Level::debug, *held_back == 0 ? line : line + " repeated=" + std::to_string(*held_back));
    }
}

bool Log::has_debug() const {
    return output_->logger.should_log(Level::debug);
}

void Log::reopen() {
    if (output_->file.empty()) {
        return info("SIGUSR1: the log goes to stderr, there is no file to reopen");
    }
    if (const std::error_code error = output_->sink->reopen()) {
        warn_each("log file not reopened, the old one stays file=" + log_quoted(output_->file) +
                  " why=" + log_quoted(error.message()));
        return;
    }
    info_each("log file reopened file=" + log_quoted(output_->file));
}

void Log::write(int level, std::string_view line) const {
    if (!output_->logger.should_log(static_cast<Level>(level))) {
        return;
    }
    const std::lock_guard lock(mutex_);
    for (const LogLine& each : repeated_.admit(level, line)) {
        output_->logger.log(static_cast<Level>(each.level), "{}", each.text);
    }
}

bool Log::write_each(int level, std::string_view line) const {
    if (!output_->logger.should_log(static_cast<Level>(level))) {
        return false;
    }
    const std::lock_guard lock(mutex_);
    output_->logger.log(static_cast<Level>(level), "{}", line);
    return true;
}

}  // namespace telegate
