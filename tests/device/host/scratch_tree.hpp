#pragma once

#include "support/catch.hpp"
#include "support/scratch_dir.hpp"

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace telegate::test {

/// A temporary directory with test files; removed with the object.
class ScratchTree {
  public:
    [[nodiscard]] std::string path(std::string_view file) const { return root_.path(std::string(file)); }

    /// Rewrites the file in place, as procfs does; creates its directories.
    void write(std::string_view file, std::string_view text) const {
        std::filesystem::create_directories(std::filesystem::path(path(file)).parent_path());
        std::ofstream(path(file), std::ios::trunc) << text;
    }
    void make_directory(std::string_view directory) const { std::filesystem::create_directories(path(directory)); }
    void remove(std::string_view file) const { REQUIRE(std::filesystem::remove_all(path(file)) > 0); }

  private:
    ScratchDir root_;
};

}  // namespace telegate::test
