#include "host/directory_names.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

namespace telegate::host {

std::vector<std::string> names_in(const std::string& directory, std::string_view prefix, std::string_view suffix) {
    std::vector<std::string> names;
    std::error_code error;
    std::filesystem::directory_iterator entry(directory, error);
    for (; !error && entry != std::filesystem::directory_iterator{}; entry.increment(error)) {
        std::string name = entry->path().filename().string();
        if (name.size() > prefix.size() + suffix.size() && name.starts_with(prefix) && name.ends_with(suffix)) {
            names.push_back(std::move(name));
        }
    }
    std::sort(names.begin(), names.end(), [](const std::string& left, const std::string& right) {
        return left.size() != right.size() ? left.size() < right.size() : left < right;  // 2 before 10
    });
    return names;
}

bool DirectoryNames::open(const char* path) noexcept {
    close();
    fd_ = UniqueFd(::open(path, O_RDONLY | O_CLOEXEC | O_DIRECTORY));
    return is_open();
}

DirectoryNames::Step DirectoryNames::fill(std::span<char> buffer, std::size_t& bytes) noexcept {
    // opendir() would allocate its own buffer each time.
    const long got = ::syscall(SYS_getdents64, fd_.get(), buffer.data(), buffer.size());
    if (got > 0) {
        bytes = static_cast<std::size_t>(got);
        return Step::more;
    }
    close();
    return got == 0 ? Step::end : Step::failed;
}

std::string_view DirectoryNames::name_at(std::span<const char> buffer, std::size_t& at) noexcept {
    const auto* const entry = reinterpret_cast<const dirent64*>(buffer.data() + at);
    at += entry->d_reclen;
    return static_cast<const char*>(entry->d_name);
}

}  // namespace telegate::host
