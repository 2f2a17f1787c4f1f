#include "web/web_files.hpp"

#include <algorithm>

namespace telegate {

const WebFile* find_web_file(std::string_view name) noexcept {
    const auto files = web_files();
    const auto found =
        std::find_if(files.begin(), files.end(), [name](const WebFile& file) { return file.name == name; });
    return found == files.end() ? nullptr : &*found;
}

}  // namespace telegate
