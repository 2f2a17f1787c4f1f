#pragma once

#include "config/load.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace telegate {

/// Returns external text in a form that is safe to print: control bytes as \xNN, long text truncated.
[[nodiscard]] std::string printable(std::string_view text);

/// Like printable(), in double quotes, or in single quotes if the text contains double ones.
[[nodiscard]] std::string quoted_value(std::string_view text);

/// Returns why the line of a settings file is not text, such as "byte 0xe4 is not UTF-8"; "" if it is.
[[nodiscard]] std::string text_fault(std::string_view line);

/// Collects the problems of one load.
///
/// Threads: one.
/// Limits: problems_max problems; further ones are only counted, so that an invalid file does not fill the screen or
/// the memory.
/// Failure: throw_if_any() throws SettingsError; nothing else can fail.
class ProblemList {
  public:
    static constexpr std::size_t problems_max = 200;

    /// The problems of `file` come first; "" for none.
    explicit ProblemList(std::string file) : file_(std::move(file)) {}

    void add(SettingsPlace place, std::string_view key, std::string what);
    void add(SettingsProblem problem);

    /// Throws the problems, sorted, with the settings that were parsed despite them.
    void throw_if_any(const Settings& understood, std::error_code unreadable = {});

  private:
    std::string file_;
    std::vector<SettingsProblem> problems_;
    std::size_t left_out_ = 0;
};

}  // namespace telegate
