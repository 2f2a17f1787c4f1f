#pragma once

#include "log_options.hpp"
#include "store/file_system.hpp"
#include "store/log_reader.hpp"

#include <functional>
#include <ostream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace telegate::log_tool {

/// The failure of a command. what() is the reason.
class Failure : public std::runtime_error {
  public:
    Failure(int code, const std::string& what) : std::runtime_error(what), code_(code) {}

    [[nodiscard]] int code() const noexcept { return code_; }

  private:
    int code_;
};

/// The files and streams that a command uses.
struct Surroundings {
    store::FileSystem& files;
    std::ostream& out;
    std::ostream& errors;
    const char* program = "gateway_log";  // in messages
};

/// Returns the result of `command`, or the exit code of its failure, which is reported to `errors`. Threads: one.
/// Failure: none.
[[nodiscard]] int guard(const Surroundings& surroundings, const std::function<int()>& command);
/// Prints the text of a command line without options, or returns the result of `command(options)`, as guard() does.
template <class Options, class RunCommand>
[[nodiscard]] int run(const Parsed<Options>& parsed, const Surroundings& surroundings, const RunCommand& command) {
    return guard(surroundings, [&] {
        if (parsed.options) {
            return command(*parsed.options);
        }
        (parsed.exit_code == exit_code::ok ? surroundings.out : surroundings.errors) << parsed.output;
        return parsed.exit_code;
    });
}
/// Runs gateway_log. Returns the exit code.
[[nodiscard]] int run(const Parsed<LogOptions>& parsed, const Surroundings& surroundings);

/// Throws Failure unless the directory has, or had, a log.
void check_directory(const std::string& directory, const Surroundings& surroundings);
/// Returns a reader of the log. Throws Failure like check_directory(), and std::system_error if the disk cannot read a
/// segment.
[[nodiscard]] store::LogReader open_log(const std::string& directory, const Surroundings& surroundings);

/// Throws Failure if one of the selected channels is in no segment.
void check_channels(const LogOptions& options, const Surroundings& surroundings);

// The commands. All return an exit code, and throw Failure, std::system_error and std::bad_alloc.
[[nodiscard]] int list(const LogOptions& options, const Surroundings& surroundings);
[[nodiscard]] int verify(const LogOptions& options, const Surroundings& surroundings);
[[nodiscard]] int dump(const LogOptions& options, const Surroundings& surroundings);
[[nodiscard]] int export_file(const LogOptions& options, const Surroundings& surroundings);
[[nodiscard]] int query(const LogOptions& options, const Surroundings& surroundings);
[[nodiscard]] int repair(const LogOptions& options, const Surroundings& surroundings);

/// Receives a part of the output.
using Write = std::function<void(std::string_view)>;

/// Collects output and passes it on in large parts.
///
/// Threads: one. Limits: part_bytes plus one append. Failure: exceptions of `write`.
class OutputBuffer {
  public:
    explicit OutputBuffer(Write write) : write_(std::move(write)) {}

    /// Returns the buffer. Append to it, then call added().
    [[nodiscard]] std::string& text() noexcept { return text_; }
    void added() {
        if (text_.size() >= part_bytes) {
            flush();
        }
    }
    void flush() {
        write_(text_);
        text_.clear();
    }

  private:
    static constexpr std::size_t part_bytes = 65'536;

    Write write_;
    std::string text_;
};

/// Returns a function that writes to `out` and throws Failure if that fails.
[[nodiscard]] Write write_to(std::ostream& out);

}  // namespace telegate::log_tool
