#include "transport/ipc/ipc_file.hpp"

#include "core/unique_fd.hpp"
#include "transport/transport.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <system_error>
#include <utility>

namespace telegate::transport {
namespace {

[[noreturn]] void fail(int error, const std::string& what) {
    throw std::system_error(error, std::generic_category(), what);
}

std::string directory_of(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    if (slash == std::string::npos) {
        return ".";
    }
    return slash == 0 ? "/" : path.substr(0, slash);
}

/// Excludes others that bind in the same directory. Where the directory cannot be locked, simultaneous starts are not
/// protected from each other: on file systems without locks, and if it may not be read.
/// Threads: one. Limits: waits for at most a second. Failure: throws std::system_error.
class DirectoryLock {
  public:
    explicit DirectoryLock(const Endpoint& endpoint)
        : directory_(::open(directory_of(endpoint.path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
        if (directory_.get() < 0 && errno == EACCES) {
            return;
        }
        if (directory_.get() < 0) {
            fail(errno, to_string(endpoint));
        }
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
        while (::flock(directory_.get(), LOCK_EX | LOCK_NB) != 0) {
            if (errno != EWOULDBLOCK && errno != EINTR) {
                return;
            }
            if (std::chrono::steady_clock::now() >= end) {
                fail(EWOULDBLOCK, to_string(endpoint) + " (another process holds a lock on its directory)");
            }
            ::poll(nullptr, 0, 1);
        }
    }
    /// Does not rely on close(): a child process that was just forked may hold the descriptor a little longer.
    ~DirectoryLock() { ::flock(directory_.get(), LOCK_UN); }
    DirectoryLock(const DirectoryLock&) = delete;
    DirectoryLock& operator=(const DirectoryLock&) = delete;

  private:
    const UniqueFd directory_;
};

/// Returns whether a dead process left this socket behind: nothing accepts connections there. Any other kind of file
/// refuses connections too, and is not ours to remove.
bool is_stale(const std::string& path, const SocketAddress& address) {
    struct stat file {};
    if (::lstat(path.c_str(), &file) != 0 || !S_ISSOCK(file.st_mode)) {
        return false;
    }
    const UniqueFd probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    return probe.get() >= 0 && ::connect(probe.get(), address.get(), address.bytes) != 0 && errno == ECONNREFUSED;
}

/// Returns in parentheses what is at `path` if it is not a socket: "in use" alone would be misleading then.
std::string obstacle(const std::string& path) {
    struct stat file {};
    if (::lstat(path.c_str(), &file) != 0 || S_ISSOCK(file.st_mode)) {
        return "";
    }
    if (S_ISDIR(file.st_mode)) {
        return " (is a directory)";
    }
    return S_ISLNK(file.st_mode) ? " (is a symbolic link)" : " (is not a socket)";
}

/// Returns 0 or an errno value. Replaces a dead socket; a file that disappears during the check does not matter.
int bind_over_stale(int descriptor, const std::string& path, const SocketAddress& address) {
    constexpr int attempts_max = 3;
    for (int attempt = 0; attempt < attempts_max; ++attempt) {
        if (::bind(descriptor, address.get(), address.bytes) == 0) {
            return 0;
        }
        if (errno != EADDRINUSE) {
            return errno;
        }
        const FileIdentity found = identify(path);
        if (found == FileIdentity{}) {
            continue;
        }
        if (!is_stale(path, address) || identify(path) != found) {
            return EADDRINUSE;
        }
        ::unlink(path.c_str());
    }
    return EADDRINUSE;
}

/// Uses a descriptor of the very file that we bound, so that no other file can take its place. Called after bind(), so
/// that the umask has no effect, and before listen(), so that no peer has connected yet.
void set_rights(const IpcFile& file, const Endpoint& endpoint, const SocketOptions& options) {
    const UniqueFd opened(::open(file.path().c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    struct stat status {};
    if (opened.get() < 0 || ::fstat(opened.get(), &status) != 0) {
        fail(errno, to_string(endpoint));
    }
    if (FileIdentity{status.st_dev, status.st_ino} != file.identity()) {
        fail(EADDRINUSE, to_string(endpoint));
    }
    const std::string by_descriptor = "/proc/self/fd/" + std::to_string(opened.get());
    if (options.ipc_mode && ::chmod(by_descriptor.c_str(), *options.ipc_mode) != 0) {
        fail(errno, "cannot set the mode of " + to_string(endpoint));
    }
    constexpr auto unchanged = static_cast<uid_t>(-1);
    if ((options.ipc_owner || options.ipc_group) &&
        ::fchownat(opened.get(), "", options.ipc_owner.value_or(unchanged), options.ipc_group.value_or(unchanged),
                   AT_EMPTY_PATH) != 0) {
        fail(errno, "cannot set the owner of " + to_string(endpoint));
    }
}

/// Creates the directory and returns its path.
std::string make_scratch_directory(const Endpoint& endpoint) {
    const char* parent = std::getenv("TMPDIR");
    std::string path = parent != nullptr && *parent != '\0' ? parent : "/tmp";
    path += "/telegate-XXXXXX";
    if (::mkdtemp(path.data()) == nullptr) {
        fail(errno, to_string(endpoint) + " in " + path);
    }
    return path;
}

}  // namespace

FileIdentity identify(const std::string& path) noexcept {
    struct stat file {};
    if (::lstat(path.c_str(), &file) != 0) {
        return {};
    }
    return {file.st_dev, file.st_ino};
}

IpcFile::IpcFile(std::string path, std::string scratch_directory) noexcept
    : path_(std::move(path)), scratch_directory_(std::move(scratch_directory)) {}

IpcFile::~IpcFile() {
    if (identity_ != FileIdentity{} && identify(path_) == identity_) {
        ::unlink(path_.c_str());
    }
    if (!scratch_directory_.empty()) {
        ::rmdir(scratch_directory_.c_str());
    }
}

SocketAddress ipc_address(const Endpoint& endpoint) {
    SocketAddress address;
    auto& name = address.as<sockaddr_un>();
    const std::string& path = endpoint.path;
    if (path.size() >= sizeof name.sun_path) {
        fail(ENAMETOOLONG, to_string(endpoint));
    }
    if (path.empty() || path == "@" || path.find('\0') != std::string::npos) {
        fail(EINVAL, to_string(endpoint));
    }
    name.sun_family = AF_UNIX;
    std::memcpy(name.sun_path, path.data(), path.size());
    address.bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
    if (path.front() == '@') {
        name.sun_path[0] = '\0';  // abstract: no file, and only the length ends the name
    } else {
        ++address.bytes;
    }
    return address;
}

std::shared_ptr<const IpcFile> listen_at_path(int descriptor, const Endpoint& endpoint, const SocketOptions& options) {
    const bool is_scratch = endpoint.path == "*";
    const std::string directory = is_scratch ? make_scratch_directory(endpoint) : "";
    const auto file = std::make_shared<IpcFile>(is_scratch ? directory + "/socket" : endpoint.path, directory);
    const Endpoint bound{Transport::ipc, "", 0, file->path()};
    const SocketAddress address = ipc_address(bound);
    const DirectoryLock lock(bound);
    if (const int error = bind_over_stale(descriptor, file->path(), address); error != 0) {
        fail(error, to_string(bound) + obstacle(file->path()));
    }
    file->claim();
    set_rights(*file, bound, options);
    if (::listen(descriptor, accept_backlog) != 0) {
        fail(errno, to_string(bound));
    }
    return file;
}

}  // namespace telegate::transport
