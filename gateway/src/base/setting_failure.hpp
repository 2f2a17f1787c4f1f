#pragma once

#include <string>
#include <system_error>

namespace telegate {

/// A failure to open or bind the value of a setting, with the setting in its text: `[publish "local"] endpoint:
/// ipc:///run/x/y: No such file or directory; the directory /run/x is missing`. `path` is the file; "": not a file.
class SettingFailure : public std::system_error {
  public:
    SettingFailure(const std::system_error& cause, const std::string& setting, const std::string& path);
    [[nodiscard]] const char* what() const noexcept override { return text_.c_str(); }

  private:
    std::string text_;
};

/// Returns the result of `get`; converts its std::system_error to a SettingFailure.
template <class Get>
auto get_for(const std::string& setting, const std::string& path, Get get) {
    try {
        return get();
    } catch (const std::system_error& error) {
        throw SettingFailure(error, setting, path);
    }
}

}  // namespace telegate
