#include "settings_files.hpp"

#include "config/settings_sources.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

namespace telegate {
namespace {

class FileDescriptor {
  public:
    explicit FileDescriptor(int descriptor) : descriptor_(descriptor) {}
    ~FileDescriptor() {
        if (descriptor_ >= 0) {
            ::close(descriptor_);
        }
    }
    FileDescriptor(const FileDescriptor&) = delete;
    FileDescriptor& operator=(const FileDescriptor&) = delete;
    [[nodiscard]] int get() const noexcept { return descriptor_; }

  private:
    int descriptor_;
};

}  // namespace

std::string read_file(const std::string& path, std::size_t bytes_max, std::error_code& error) {
    const auto last_error = [] {
        return std::error_code(errno, std::generic_category());
    };
    std::string text;
    // O_NONBLOCK, because a pipe without a writer or a device must not block the reader.
    const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
    struct stat facts {};
    if (file.get() < 0 || ::fstat(file.get(), &facts) != 0) {
        error = last_error();
        return text;
    }
    if (!S_ISREG(facts.st_mode)) {
        error = std::make_error_code(S_ISDIR(facts.st_mode) ? std::errc::is_a_directory : std::errc::not_supported);
        return text;
    }
    std::array<char, 16 * 1024> buffer{};
    while (text.size() <= bytes_max) {
        const ssize_t size = ::read(file.get(), buffer.data(), buffer.size());
        if (size < 0 && errno == EINTR) {
            continue;
        }
        if (size < 0) {
            error = last_error();
        }
        if (size <= 0) {
            break;
        }
        text.append(buffer.data(), static_cast<std::size_t>(size));
    }
    return text;
}

std::string why_unreadable(const std::error_code& error) {
    return error == std::errc::not_supported ? "not a regular file" : error.message();
}

DropIns drop_ins_in(const std::string& folder, bool may_be_missing, std::error_code& error) {
    namespace fs = std::filesystem;
    DropIns found;
    fs::directory_iterator entry(folder, error);
    if (error == std::errc::no_such_file_or_directory && may_be_missing) {
        error.clear();
    }
    for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
        const std::string name = entry->path().filename().string();
        if (!name.starts_with('.') && (name.ends_with(".ini") || name.ends_with(".conf"))) {
            (name.ends_with(".ini") ? found.files : found.ignored).push_back(entry->path().string());
        }
    }
    std::sort(found.files.begin(), found.files.end());
    std::sort(found.ignored.begin(), found.ignored.end());
    return found;
}

std::string drop_in_folder_beside(const std::string& file) {
    return (std::filesystem::path(file).parent_path() / "conf.d").string();
}

std::string files_stamp(const SettingsSources& sources) {
    std::vector<std::string> paths{sources.file};
    const std::string folder =
        sources.drop_in_folder.empty() ? drop_in_folder_beside(sources.file) : sources.drop_in_folder;
    std::error_code error;
    for (std::string& path : drop_ins_in(folder, true, error).files) {
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
