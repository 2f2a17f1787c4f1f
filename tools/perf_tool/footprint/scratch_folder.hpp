#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <system_error>

namespace telegate::perf {

/// A fresh folder that goes away with everything in it.
/// Threads: one. Limits: none. Failure: throws std::runtime_error when it, or a file in it, cannot be made.
class ScratchFolder {
  public:
    ScratchFolder() {
        std::string name = (std::filesystem::temp_directory_path() / "telegate-perf-XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr) {
            throw std::runtime_error("cannot make " + name);
        }
        path_ = name;
    }
    ~ScratchFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    ScratchFolder(const ScratchFolder&) = delete;
    ScratchFolder& operator=(const ScratchFolder&) = delete;

    [[nodiscard]] std::string path() const { return path_.string(); }
    [[nodiscard]] std::string path(const std::string& name) const { return (path_ / name).string(); }
    /// Makes the file and returns its path.
    std::string write(const std::string& name, const std::string& text) const {
        std::ofstream file(path(name));
        if (!(file << text).flush()) {
            throw std::runtime_error("cannot write " + path(name));
        }
        return path(name);
    }

  private:
    std::filesystem::path path_;
};

}  // namespace telegate::perf
