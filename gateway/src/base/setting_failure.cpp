#include "base/setting_failure.hpp"

#include <sys/stat.h>

#include <filesystem>

namespace telegate {
namespace {

/// Returns the missing directory as the cause of "No such file or directory" for a file to be created; "" if it exists.
std::string folder_text(const std::error_code& error, const std::string& path) {
    const std::string folder = std::filesystem::path(path).parent_path().string();
    struct stat facts {};
    const bool is_missing =
        error == std::errc::no_such_file_or_directory && !folder.empty() && ::stat(folder.c_str(), &facts) != 0;
    return is_missing ? "; the directory " + folder + " is missing" : "";
}

}  // namespace

SettingFailure::SettingFailure(const std::system_error& cause, const std::string& setting, const std::string& path)
    : std::system_error(cause), text_(setting + ": " + cause.what() + folder_text(cause.code(), path)) {}

}  // namespace telegate
