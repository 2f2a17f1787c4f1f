#include "host/directory_names.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace telegate::host {

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
