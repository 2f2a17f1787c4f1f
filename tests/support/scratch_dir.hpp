#pragma once

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

namespace telegate::test {

/// A new directory that is removed with its content.
class ScratchDir {
  public:
    ScratchDir() {
        std::string name = (std::filesystem::temp_directory_path() / "telegate-test-XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr) {
            throw std::runtime_error("mkdtemp " + name);
        }
        path_ = name;
    }
    ~ScratchDir() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    ScratchDir(const ScratchDir&) = delete;
    ScratchDir& operator=(const ScratchDir&) = delete;

    [[nodiscard]] std::string path(std::string_view name = "") const { return (path_ / name).string(); }

    /// Writes a file, and creates its directories. Rewrites an existing one in place, as procfs does. Returns its path.
    std::string write(std::string_view name, std::string_view text) const {
        std::filesystem::create_directories((path_ / name).parent_path());
        std::ofstream(path(name)) << text;
        return path(name);
    }
    /// Returns the content of a file; "" if there is none.
    [[nodiscard]] std::string read(std::string_view name) const {
        std::ifstream file(path(name), std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    void make_directory(std::string_view name) const { std::filesystem::create_directories(path(name)); }
    void remove(std::string_view name) const {
        if (std::filesystem::remove_all(path(name)) == 0) {
            throw std::runtime_error("nothing to remove: " + path(name));
        }
    }

  private:
    std::filesystem::path path_;
};

/// Writes a file that only its owner can read, replacing an existing one. Returns its path.
inline std::string write_private(const ScratchDir& folder, const std::string& name, const std::string& text) {
    std::string path = folder.write(name, text);
    ::chmod(path.c_str(), 0600);
    return path;
}

}  // namespace telegate::test
