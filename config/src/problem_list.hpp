#pragma once

#include "config/load.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace telegate {

/// Text from outside, fit for a terminal: control bytes as \xNN, cut when it is long.
[[nodiscard]] std::string printable(std::string_view text);

/// The same in quotes: double ones, or single ones around a text that has double ones.
[[nodiscard]] std::string quoted(std::string_view text);

/// The problems of one load.
///
/// Threads: one.
/// Limits:  problems_max are kept, the rest is counted: a file of nonsense does not fill the screen or the memory.
/// Failure: throw_if_any() throws SettingsError; nothing else can fail.
class ProblemList {
  public:
    static constexpr std::size_t problems_max = 200;

    /// `file` is the one that comes first; "" for none.
    explicit ProblemList(std::string file) : file_(std::move(file)) {}

    void add(SettingsPlace place, std::string_view key, std::string what);
    void add(SettingsProblem problem);

    /// Throws what has been added, in order, with what was understood all the same.
    void throw_if_any(const Settings& understood, std::error_code unreadable = {});

  private:
    std::string file_;
    std::vector<SettingsProblem> problems_;
    std::size_t left_out_ = 0;
};

}  // namespace telegate
