#include "state/saved_file.hpp"

#include "log/log_line.hpp"

#include <sys/stat.h>

#include <cstdio>

namespace telegate {
namespace {

bool is_there(const std::string& path) {
    struct stat facts {};
    return ::lstat(path.c_str(), &facts) == 0;
}

/// Returns an unused name, or the last possible one, whose file is then replaced.
std::string name_aside(const std::string& path) {
    std::string aside = path + ".broken";
    for (std::size_t i = 2; i <= broken_files_max && is_there(aside); ++i) {
        aside = path + ".broken" + std::to_string(i);
    }
    return aside;
}

}  // namespace

void rename_broken(Log& log, std::string_view what, const std::string& path, std::string_view why) {
    const std::string aside = name_aside(path);
    const bool is_replaced = is_there(aside);
    LogLine line = LogLine(std::string(what) + " not used").add("file", path).quote("reason", why);
    if (std::rename(path.c_str(), aside.c_str()) == 0) {
        line.add("renamed_to", aside);
        if (is_replaced) {
            line.add("replaced", true);
        }
    }
    log.error(line);
}

bool write_saved(Log& log, std::string_view what, const std::string& path, std::string_view text) {
    try {
        replace_whole_file(path, text);
        return true;
    } catch (const std::system_error& error) {
        log.error(LogLine("cannot write " + std::string(what)).add("file", path).quote("reason", error.what()));
        return false;
    }
}

}  // namespace telegate
