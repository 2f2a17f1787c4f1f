#include "config/files_stamp.hpp"

#include "settings_files.hpp"

#include <sys/stat.h>

#include <system_error>
#include <utility>
#include <vector>

namespace telegate {

std::string files_stamp(const SettingsSources& sources) {
    std::vector<std::string> paths{sources.file};
    const std::string folder =
        sources.drop_in_folder.empty() ? drop_in_folder_beside(sources.file) : sources.drop_in_folder;
    std::error_code error;
    for (std::string& path : drop_ins_in(folder, true, error)) {
        paths.push_back(std::move(path));
    }
    std::string stamp;
    for (const std::string& path : paths) {
        struct stat facts {};
        stamp += path;
        if (::stat(path.c_str(), &facts) == 0) {
            stamp += ' ' + std::to_string(facts.st_ino) + ' ' + std::to_string(facts.st_size) + ' ' +
                     std::to_string(facts.st_mtim.tv_sec) + '.' + std::to_string(facts.st_mtim.tv_nsec);
        }
        stamp += '\n';
    }
    return stamp;
}

}  // namespace telegate
