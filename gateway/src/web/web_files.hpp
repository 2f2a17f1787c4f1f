#pragma once

#include <span>
#include <string_view>

namespace telegate {

/// A file of the gateway's own page.
struct WebFile {
    std::string_view name;  // "app.js"
    std::string_view media_type;
    std::string_view entity_tag;  // changes with the content
    std::string_view gzip;        // the content, compressed
};

/// Returns the files of gateway/web, which gateway/web/embed.py puts into the program. Threads: any.
[[nodiscard]] std::span<const WebFile> web_files() noexcept;
/// Returns the file with this name, or nullptr. Threads: any.
[[nodiscard]] const WebFile* find_web_file(std::string_view name) noexcept;

}  // namespace telegate
