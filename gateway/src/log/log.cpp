#include "log/log.hpp"

#include "log/log_sink.hpp"

#include <limits.h>
#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>

namespace telegate {
namespace {

using Level = spdlog::level::level_enum;

/// Maximum size of the members of a JSON line, which must fit in one atomic write to a pipe.
constexpr std::size_t json_members_max = PIPE_BUF - 128;

std::unique_ptr<spdlog::formatter> make_formatter(bool is_json) {
    const char* const pattern =
        is_json ? R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l",%v})" : "%Y-%m-%dT%H:%M:%S.%eZ %l %v";
    return std::make_unique<spdlog::pattern_formatter>(pattern, spdlog::pattern_time_type::utc);
}

std::shared_ptr<LogSink> make_sink(const std::string& file, bool is_json) {
    if (!file.empty()) {
        return std::make_shared<LogSink>(file, is_json);
    }
    const char* const journal_stream = std::getenv("JOURNAL_STREAM");
    return std::make_shared<LogSink>(
        STDERR_FILENO, is_journal_stream(STDERR_FILENO, journal_stream != nullptr ? journal_stream : ""), is_json);
}

}  // namespace

struct Log::Output {
    explicit Output(const LogOptions& options)
        : file(options.file), is_json(options.is_json), sink(make_sink(file, is_json)), logger("telegate", sink) {}

    [[nodiscard]] std::string format(const LogLine& line) const {
        return is_json ? line.json_members(json_members_max) : line.text();
    }

    const std::string file;
    const bool is_json;
    const std::shared_ptr<LogSink> sink;
    spdlog::logger logger;
};

Log::Log(const LogOptions& options) : output_(std::make_unique<Output>(options)) {
    output_->logger.set_formatter(make_formatter(options.is_json));
    output_->logger.set_level(spdlog::level::from_str(options.level));
}

Log::~Log() {
    for (const FormattedLine& line : repeated_.rest()) {
        output(line.level, line.text, line.repeated);
    }
}

void Log::set_level(std::string_view level) const {
    output_->logger.set_level(spdlog::level::from_str(std::string(level)));
}

void Log::info(const LogLine& line) const {
    write(Level::info, line);
}

void Log::warn(const LogLine& line) const {
    write(Level::warn, line);
}

void Log::error(const LogLine& line) const {
    write(Level::err, line);
}

bool Log::info_each(const LogLine& line) const {
    return write_each(Level::info, line);
}

bool Log::warn_each(const LogLine& line) const {
    return write_each(Level::warn, line);
}

bool Log::error_each(const LogLine& line) const {
    return write_each(Level::err, line);
}

void Log::info_limited(std::string_view cause, LogLine line) {
    write_limited(peers_, Level::info, cause, std::move(line));
}

void Log::warn_limited(std::string_view cause, LogLine line) {
    write_limited(warnings_, Level::warn, cause, std::move(line));
}

void Log::debug_limited(std::string_view cause, LogLine line) {
    if (has_debug()) {
        write_limited(details_, Level::debug, cause, std::move(line));
    }
}

void Log::write_limited(LogLimiter& limiter, int level, std::string_view cause, LogLine line) const {
    if (const auto repeated = limiter.admit(cause)) {
        write(level, *repeated == 0 ? line : line.add("repeated", *repeated));
    }
}

bool Log::has_debug() const {
    return output_->logger.should_log(Level::debug);
}

void Log::reopen() {
    if (output_->file.empty()) {
        return info("SIGUSR1 ignored: the log is written to stderr, not to a file");
    }
    if (const std::error_code error = output_->sink->reopen()) {
        warn_each(LogLine("cannot reopen log file, still writing to the old one")
                      .quote("file", output_->file)
                      .quote("reason", error.message()));
        return;
    }
    info_each(LogLine("log file reopened").quote("file", output_->file));
}

void Log::output(int level, const std::string& text, std::uint64_t repeated) const {
    const char* const before = output_->is_json ? ",\"repeated\":" : " repeated=";
    const std::string count = repeated == 0 ? "" : before + std::to_string(repeated);
    output_->logger.log(static_cast<Level>(level), "{}{}", text, count);
}

void Log::write(int level, const LogLine& line) const {
    if (!output_->logger.should_log(static_cast<Level>(level))) {
        return;
    }
    const std::string text = output_->format(line);
    const std::lock_guard lock(mutex_);
    for (const FormattedLine& each : repeated_.admit(level, text)) {
        output(each.level, each.text, each.repeated);
    }
}

bool Log::write_each(int level, const LogLine& line) const {
    if (!output_->logger.should_log(static_cast<Level>(level))) {
        return false;
    }
    const std::string text = output_->format(line);
    const std::lock_guard lock(mutex_);
    output(level, text, 0);
    return true;
}

}  // namespace telegate
