#pragma once

#include "core/endpoint.hpp"
#include "core/socket_options.hpp"
#include "transport/socket_address.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace telegate::transport {

/// Identifies a file.
struct FileIdentity {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;  // 0: no file

    friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};

/// Returns the identity of the file at `path`; for a link, that of the link itself.
[[nodiscard]] FileIdentity identify(const std::string& path) noexcept;

/// The file of a socket that we bound. On destruction, removes it if it is still the same file, and its scratch
/// directory if one was made for it.
/// Threads: one. Limits: one file. Failure: a file that cannot be removed stays.
class IpcFile {
  public:
    /// `scratch_directory`: empty if the directory is not ours.
    IpcFile(std::string path, std::string scratch_directory) noexcept;
    IpcFile(const IpcFile&) = delete;
    IpcFile& operator=(const IpcFile&) = delete;
    ~IpcFile();

    /// Takes ownership of the file that the path names now.
    void claim() noexcept { identity_ = identify(path_); }
    [[nodiscard]] FileIdentity identity() const noexcept { return identity_; }
    [[nodiscard]] const std::string& path() const noexcept { return path_; }

  private:
    const std::string path_;
    const std::string scratch_directory_;
    FileIdentity identity_;
};

/// Binds `descriptor` to a path and listens. If several processes try at the same time, exactly one succeeds. The path
/// "*" stands for a file in a new directory that only we may enter. Throws std::system_error, and then leaves no file.
///
/// A file that exists at the path is removed only if it is a socket that no process listens on. Between checking and
/// removing, and between bind() and listen(), a live socket looks dead; a lock on the directory keeps other processes
/// out meanwhile. Unlike a lock file, it leaves nothing behind and ends with the process.
[[nodiscard]] std::shared_ptr<const IpcFile> listen_at_path(int descriptor, const Endpoint& endpoint,
                                                            const SocketOptions& options);

/// Returns the socket address of an ipc endpoint, a path or an abstract name. Throws std::system_error if it has none.
[[nodiscard]] SocketAddress ipc_address(const Endpoint& endpoint);

}  // namespace telegate::transport
