#pragma once

#include "core/endpoint.hpp"
#include "core/socket_options.hpp"
#include "transport/socket_address.hpp"

#include <cstdint>
#include <string>

namespace telegate::transport {

/// Which file a path names.
struct FileIdentity {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;  // 0: no file

    friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};

/// The file at `path`, a link itself rather than what it leads to.
[[nodiscard]] FileIdentity identify(const std::string& path) noexcept;

/// The file of a socket that we bound. Takes it away at the end, if it is still the one that we made; with it the
/// scratch directory around it, if that was made for it.
/// Threads: one. Limits: one file. Failure: what cannot be taken away stays.
class IpcFile {
  public:
    IpcFile() = default;
    /// `scratch_directory`: empty when the directory is not ours.
    IpcFile(std::string path, std::string scratch_directory) noexcept;
    IpcFile(IpcFile&& other) noexcept;
    IpcFile& operator=(IpcFile&&) = delete;
    ~IpcFile();

    /// From now on the file that the path names is ours.
    void claim() noexcept { identity_ = identify(path_); }
    [[nodiscard]] FileIdentity identity() const noexcept { return identity_; }
    [[nodiscard]] const std::string& path() const noexcept { return path_; }

  private:
    std::string path_;
    std::string scratch_directory_;
    FileIdentity identity_;
};

/// Binds `descriptor` to a path and listens, so that of several who try exactly one succeeds. The path "*" stands for a
/// file in a new directory that only we may enter. Throws std::system_error and leaves no file.
///
/// A file that is in the way is removed only when it is a socket that nobody listens on. Between looking and removing,
/// and between bind() and listen(), a living socket looks dead; a lock on the directory keeps others out meanwhile. It
/// leaves nothing behind and goes with the process, unlike a lock file.
[[nodiscard]] IpcFile listen_at_path(int descriptor, const Endpoint& endpoint, const SocketOptions& options);

/// The socket address of an ipc endpoint, a path or an abstract name. Throws std::system_error when it has none.
[[nodiscard]] SocketAddress ipc_address(const Endpoint& endpoint);

}  // namespace telegate::transport
