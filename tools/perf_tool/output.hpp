#pragma once

#include "command.hpp"

#include <fstream>
#include <string>

namespace telegate::perf {

/// Where results go: as text to stdout, and as JSON if the command line asks for it. tools/perf_tool/plot.py makes
/// pictures of the JSON.
///
/// Threads: one. Limits: none.
/// Failure: open() and write() throw std::runtime_error if the file cannot be written.
class Output {
  public:
    /// Adds the option to the command line; this outlives it.
    void add_options(CLI::App& app);
    /// Opens the file before anything is measured, so that nothing is measured in vain.
    void open();
    void write(const Command::Result& result);

  private:
    CLI::Option* json_ = nullptr;
    std::string path_;
    std::ofstream file_;
};

}  // namespace telegate::perf
