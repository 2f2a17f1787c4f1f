#include "exec/command_run.hpp"

#include "device/option_error.hpp"
#include "exec/json_reader.hpp"
#include "lines/line_fields.hpp"
#include "lines/line_reader.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <utility>

namespace telegate::exec {
namespace {

constexpr std::string_view blanks = " \t\r\n";

[[noreturn]] void refuse(std::string_view text, const char* why) {
    throw OptionError("command", '"' + std::string(text) + "\": " + why);
}

/// Splits a command into words, character by character.
class Splitter {
  public:
    explicit Splitter(std::string_view text) : text_(text) {}

    std::vector<std::string> split() {
        while (at_ < text_.size()) {
            const char c = text_[at_];
            if (quote_ == 0 && blanks.find(c) != std::string_view::npos) {
                end_word();
            } else if (quote_ != 0 && c == quote_) {
                quote_ = 0;
            } else if (quote_ == 0 && (c == '\'' || c == '"')) {
                quote_ = c;
                has_word_ = true;
            } else if (c == '\\' && quote_ != '\'') {
                keep_next();
            } else {
                keep(c);
            }
            ++at_;
        }
        if (quote_ != 0) {
            refuse(text_, "unterminated quote");
        }
        end_word();
        return std::move(words_);
    }

  private:
    void keep(char c) {
        word_.push_back(c);
        has_word_ = true;
    }

    /// Handles a backslash.
    void keep_next() {
        if (at_ + 1 == text_.size()) {
            refuse(text_, "backslash at the end");
        }
        const char next = text_[at_ + 1];
        if (quote_ == '"' && next != '"' && next != '\\') {
            return keep('\\');
        }
        ++at_;
        keep(next);
    }

    void end_word() {
        if (has_word_) {
            words_.push_back(std::move(word_));
            word_.clear();
            has_word_ = false;
        }
    }

    std::string_view text_;
    std::size_t at_ = 0;
    char quote_ = 0;         // the open quote; 0: none
    bool has_word_ = false;  // true also for an empty word in quotes
    std::string word_;
    std::vector<std::string> words_;
};

constexpr std::size_t name_bytes_max = 40;  // in messages
/// Buffers per call, so a command that prints without end can still be stopped, or share the thread with its other
/// output.
constexpr int buffers_max = 16;
constexpr std::size_t buffer_bytes = 16 * 1024;

bool is_variable(const std::string& text) {
    const std::size_t sign = text.find('=');
    return sign != 0 && sign != std::string::npos;
}

ExecDriverOptions checked(ExecDriverOptions options) {
    require_option(!options.command.empty(), "command", "must not be empty");
    for (const std::string& variable : options.environment) {
        require_option(is_variable(variable), "environment", "\"" + variable + "\": must be NAME=VALUE");
    }
    require_option(options.working_directory.starts_with('/'), "working_directory",
                   "\"" + options.working_directory + "\": must begin with /");
    return options;
}

std::vector<std::string> arguments_of(const ExecDriverOptions& options) {
    return options.shell ? std::vector<std::string>{"/bin/sh", "-c", options.command} : split_command(options.command);
}

/// Returns the beginning of a shell command, without URLs, which may contain secrets, or the program name without its
/// directory.
std::string name_of(const ExecDriverOptions& options) {
    const std::string first =
        options.shell ? options.command.substr(0, options.command.find("://")) : arguments_of(options).front();
    const std::size_t slash = options.shell ? std::string::npos : first.rfind('/');
    return std::string(excerpt(first.substr(slash == std::string::npos ? 0 : slash + 1).substr(0, name_bytes_max)));
}

std::unique_ptr<ByteReader> make_reader(const ExecDriverOptions& options) {
    if (options.json) {
        return std::make_unique<JsonReader>(*options.json, options.limits);
    }
    return std::make_unique<LineReader>(options.lines, options.limits);
}

/// Makes a text printable: if it is not UTF-8, replaces its non-ASCII bytes with question marks.
std::string presentable(std::string_view words) {
    std::string text(words);
    if (!is_plain_text(text)) {
        std::replace_if(
            text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x80; }, '?');
    }
    return text;
}

}  // namespace

std::vector<std::string> split_command(std::string_view text) {
    std::vector<std::string> words = Splitter(text).split();
    if (words.empty()) {
        refuse(text, "empty command");
    }
    if (words.front().empty()) {
        refuse(text, "empty program name");
    }
    return words;
}

CommandRun::CommandRun(ExecDriverOptions options)
    : options_(checked(std::move(options))),
      name_(presentable(name_of(options_))),
      reader_(make_reader(options_)),
      child_(options_, arguments_of(options_)) {}

std::vector<MissingPart> CommandRun::missing_parts() const {
    std::vector<MissingPart> missing;
    if (std::string fault = child_.program_fault(); !fault.empty()) {
        missing.push_back({"command", std::move(fault)});
    }
    if (std::string fault = child_.directory_fault(); !fault.empty()) {
        missing.push_back({"working_directory", std::move(fault)});
    }
    return missing;
}

std::string CommandRun::start() {
    if (buffer_ == nullptr) {
        buffer_ = std::make_unique_for_overwrite<char[]>(buffer_bytes);
    }
    last_words_.clear();
    reader_->restart(false);
    bytes_ = 0;
    good_ = 0;
    refused_before_ = reader_->refused();
    started_by_ = ::gettid();
    return child_.start();
}

bool CommandRun::is_of_another_thread() const noexcept {
    return child_.exists() && started_by_ != ::gettid();
}

CommandEvent CommandRun::wait_until(MonoTime deadline) const noexcept {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    std::array<pollfd, 4> watched{{{cancel_ != nullptr ? cancel_->descriptor() : -1, POLLIN, 0},
                                   {child_.ended(), POLLIN, 0},
                                   {child_.output(), POLLIN, 0},
                                   {child_.errors(), POLLIN, 0}}};
    const int ready = ::poll(watched.data(), watched.size(), static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
    if (ready <= 0) {
        return {};
    }
    return {watched[0].revents != 0, watched[1].revents != 0, watched[2].revents != 0, watched[3].revents != 0};
}

ssize_t CommandRun::read_some(int descriptor) noexcept {
    if (descriptor < 0) {
        return -1;
    }
    ssize_t got = -1;
    do {
        got = ::read(descriptor, buffer_.get(), buffer_bytes);
    } while (got < 0 && errno == EINTR);
    bytes_ += static_cast<std::size_t>(std::max<ssize_t>(got, 0));
    return got;
}

void CommandRun::read_output(SampleBatch& batch) {
    for (int taken = 0; taken < buffers_max; ++taken) {
        const ssize_t got = read_some(child_.output());
        if (got == 0) {
            child_.close_output();
        }
        if (got <= 0) {
            return;
        }
        batch.stamp_now();
        good_ += reader_->feed({buffer_.get(), static_cast<std::size_t>(got)}, batch);
        if (options_.mode == ExecDriverOptions::Mode::once && has_printed_too_much()) {
            return;
        }
    }
}

void CommandRun::read_errors() noexcept {
    for (int taken = 0; taken < buffers_max; ++taken) {
        const ssize_t got = read_some(child_.errors());
        if (got == 0) {
            child_.close_errors();
        }
        if (got <= 0) {
            return;
        }
        last_words_.feed({buffer_.get(), static_cast<std::size_t>(got)});
    }
}

/// A pipe holds less than is taken here, so this takes everything unless other processes keep writing.
void CommandRun::read_rest(SampleBatch& batch) {
    read_output(batch);
    read_errors();
    batch.stamp_now();
    good_ += reader_->finish(batch);
}

void CommandRun::skip_output(SampleBatch& batch) noexcept {
    std::uint64_t lines = 0;
    char last = 0;
    for (int taken = 0; taken < buffers_max; ++taken) {
        const ssize_t got = read_some(child_.output());
        if (got <= 0) {
            break;
        }
        lines += static_cast<std::uint64_t>(std::count(buffer_.get(), buffer_.get() + got, '\n'));
        last = buffer_[static_cast<std::size_t>(got) - 1];
    }
    batch.lost_at_source(lines);
    if (last != 0) {
        reader_->restart(last != '\n');
    }
}

void CommandRun::report_counts(SampleBatch& batch, bool all) {
    batch.stamp_now();
    reader_->report_counts(batch, all);
}

ReadResult CommandRun::fail(std::string_view what, std::string_view more) {
    what_ = name_ + ": ";
    what_.append(what);
    what_.append(more.empty() ? "" : ": ");
    what_.append(more);
    return {ReadResult::Status::failed, what_};
}

ReadResult CommandRun::fail_with_last_words(std::string_view what) {
    return fail(what, presentable(last_words_.text()));
}

ReadResult CommandRun::still_not_ended() {
    return fail("process " + std::to_string(child_.pid()) + " was killed but has not ended");
}

}  // namespace telegate::exec
