#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

/// Temporary files of a measurement.
namespace telegate::perf {

/// A new directory, which the destructor removes.
/// Threads: one. Limits: none. Failure: throws std::runtime_error if it, or a file in it, cannot be created.
class ScratchFolder {
  public:
    ScratchFolder() : path_((std::filesystem::temp_directory_path() / "telegate-perf-XXXXXX").string()) {
        if (::mkdtemp(path_.data()) == nullptr) {
            throw std::runtime_error("cannot create " + path_);
        }
    }
    ~ScratchFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    ScratchFolder(const ScratchFolder&) = delete;
    ScratchFolder& operator=(const ScratchFolder&) = delete;

    [[nodiscard]] const std::string& path() const noexcept { return path_; }
    /// Creates a file and returns its path.
    std::string write(const std::string& name, const std::string& text) const {
        std::string path = path_ + "/" + name;
        if (!(std::ofstream(path) << text).flush()) {
            throw std::runtime_error("cannot write " + path);
        }
        return path;
    }

  private:
    std::string path_;
};

/// Settings, each with its new value.
using SettingChanges = std::vector<std::pair<std::string, std::string>>;

/// Returns the text of a settings file with changes. TCP ports become free ports of the loopback interface, and ipc
/// files are in `folder`. Settings that the text does not contain are inserted at its beginning.
[[nodiscard]] inline std::string scratch_settings(std::string text, const SettingChanges& changes,
                                                  const std::string& folder) {
    const auto setting = [](const std::string& key, const std::string& value) {
        return std::regex("(^|\n)[ \t]*" + key + "[ \t]*=[ \t]*" + value);
    };
    text = std::regex_replace(text, setting("listen", "[^\n]*"), "$1listen = 127.0.0.1:0");
    text = std::regex_replace(text, setting("endpoint", "tcp:[^\n]*"), "$1endpoint = tcp://127.0.0.1:0");
    text = std::regex_replace(text, setting("endpoint", "ipc:[^\n]*/"), "$1endpoint = ipc://" + folder + "/");
    std::string missing;
    for (const auto& [key, value] : changes) {
        const std::regex old = setting(key, "[^\n]*");
        std::string line = key;
        line.append(" = ").append(value);
        if (std::regex_search(text, old)) {
            text = std::regex_replace(text, old, line.insert(0, "$1"));
        } else {
            missing.append(line).append("\n");
        }
    }
    return missing + text;
}

}  // namespace telegate::perf
