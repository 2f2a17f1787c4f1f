#pragma once

#include "command.hpp"

#include <fstream>
#include <memory>
#include <string>

namespace telegate::perf {

/// Where results go: as text to stdout, or in the forms that the command line asks for.
///
/// Threads: one. Limits: none.
/// Failure: open() and write() throw std::runtime_error, also when a file cannot be written.
class Output {
  public:
    /// Adds the options to the command line; this outlives it.
    void add_options(CLI::App& app);
    /// Before anything is measured, so that it is not measured in vain.
    void open();
    void write(const Command::Result& result);

  private:
    CLI::Option* json_ = nullptr;
    std::string json_path_;
    std::string html_path_;
    std::string svg_path_;
    bool markdown_ = false;
    std::ofstream json_file_;
    std::ofstream html_file_;
    std::ofstream svg_file_;
};

}  // namespace telegate::perf
