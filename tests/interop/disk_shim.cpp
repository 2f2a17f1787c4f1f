// Records the changes that a program makes to the files of one directory, so that a test can take back those that were
// not synced, as a power failure does, and makes the disk of that directory fail or stall. Loaded with LD_PRELOAD into
// a program that is linked with the shared C library. power_loss.py reads the record.
//
// TELEGATE_DISK_SHIM is the directory; TELEGATE_DISK_SHIM_CONTROL is another one, in which `journal` receives the
// record. While that directory has a file `fault`, calls fail with the error whose number the file has; while it has a
// file `stall`, syncs do not return.
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <string_view>

namespace {

/// Returns the C library's function of that name. Functions with an offset in a file have 64 in their names if they
/// take it with 64 bits on every processor.
template <class Function>
Function* next(const char* name) noexcept {
    return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

std::string variable(const char* name) {
    const char* const text = std::getenv(name);
    return text == nullptr ? "" : text;
}

const std::string& directory() {
    static const std::string path = variable("TELEGATE_DISK_SHIM");
    return path;
}

std::string control(const char* name) {
    static const std::string path = variable("TELEGATE_DISK_SHIM_CONTROL") + '/';
    return path + name;
}

int open_file(const std::string& path, int flags) {
    static auto* const real = next<int(const char*, int, ...)>("open64");
    constexpr mode_t mode = 0600;
    return real(path.c_str(), flags | O_CLOEXEC, mode);
}

/// Returns the name within the directory, "." for the directory itself, or "" for any other path.
std::string name_of(std::string_view path) {
    if (directory().empty() || !path.starts_with(directory())) {
        return "";
    }
    path.remove_prefix(directory().size());
    return path.empty() ? "." : path.starts_with('/') ? std::string(path.substr(1)) : "";
}

/// The same for an open file; "" also if it was removed.
std::string name_of(int file) {
    std::array<char, 4096> path{};
    const std::string link = "/proc/self/fd/" + std::to_string(file);
    const ssize_t size = ::readlink(link.c_str(), path.data(), path.size());
    const std::string_view target(path.data(), size < 0 ? 0 : static_cast<std::size_t>(size));
    return target.ends_with(" (deleted)") ? "" : name_of(target);
}

struct Head {
    char kind;
    std::uint32_t name_bytes;
    std::uint64_t at;
    std::uint64_t bytes;
};

/// Appends one change: its header, the name, and the bytes that were written or the second name.
void record(char kind, std::string_view name, std::uint64_t at = 0, std::string_view bytes = {}) {
    static std::mutex mutex;
    static const int journal = open_file(control("journal"), O_WRONLY | O_APPEND | O_CREAT);
    static auto* const real = next<ssize_t(int, const void*, std::size_t)>("write");
    const Head head{kind, static_cast<std::uint32_t>(name.size()), at, bytes.size()};
    std::string text(sizeof head, '\0');
    std::memcpy(text.data(), &head, sizeof head);
    text.append(name).append(bytes);
    const std::lock_guard lock(mutex);
    if (real(journal, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
        ::_exit(EXIT_FAILURE);  // a test must not trust an incomplete record
    }
}

/// Whether the call is to fail; sets errno then.
bool is_failing() {
    const int file = open_file(control("fault"), O_RDONLY);
    if (file < 0) {
        return false;
    }
    std::array<char, 8> number{};
    const ssize_t size = ::read(file, number.data(), number.size());
    ::close(file);
    int error = EIO;
    std::from_chars(number.data(), number.data() + std::max<ssize_t>(size, 0), error);
    errno = error;
    return true;
}

int sync_file(int file) {
    const std::string name = name_of(file);
    if (name.empty()) {
        return 0;
    }
    constexpr int step_ms = 1;
    while (::access(control("stall").c_str(), F_OK) == 0) {
        ::poll(nullptr, 0, step_ms);
    }
    if (is_failing()) {
        return -1;
    }
    record('s', name);
    return 0;
}

}  // namespace

extern "C" {

// NOLINTNEXTLINE(cert-dcl50-cpp): the system's arguments
int open(const char* path, int flags, ...) {
    va_list list;
    va_start(list, flags);
    const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(list, mode_t) : 0;
    va_end(list);
    static auto* const real = next<int(const char*, int, ...)>("open64");
    const std::string name = name_of(std::string_view(path));
    struct stat facts {};
    if (!name.empty() && (flags & O_CREAT) != 0 && ::lstat(path, &facts) != 0) {
        if (is_failing()) {
            return -1;
        }
        record('c', name);
    }
    return real(path, flags, mode);
}

ssize_t pwrite(int file, const void* bytes, std::size_t count, off_t at) {
    static auto* const real = next<ssize_t(int, const void*, std::size_t, off_t)>("pwrite64");
    if (const std::string name = name_of(file); !name.empty()) {
        if (is_failing()) {
            return -1;
        }
        record('w', name, static_cast<std::uint64_t>(at), {static_cast<const char*>(bytes), count});
    }
    return real(file, bytes, count, at);
}

int ftruncate(int file, off_t bytes) noexcept {
    static auto* const real = next<int(int, off_t)>("ftruncate64");
    if (const std::string name = name_of(file); !name.empty()) {
        record('t', name, static_cast<std::uint64_t>(bytes));
    }
    return real(file, bytes);
}

int fdatasync(int file) {
    return sync_file(file);
}

int fsync(int file) {
    return sync_file(file);
}

int unlink(const char* path) noexcept {
    static auto* const real = next<int(const char*)>("unlink");
    struct stat facts {};
    if (const std::string name = name_of(std::string_view(path)); !name.empty() && ::lstat(path, &facts) == 0) {
        record('u', name);
    }
    return real(path);
}

int rename(const char* from, const char* to) noexcept {
    static auto* const real = next<int(const char*, const char*)>("rename");
    const std::string name = name_of(std::string_view(from));
    if (!name.empty()) {
        record('r', name, 0, name_of(std::string_view(to)));
    }
    return real(from, to);
}

}  // extern "C"
