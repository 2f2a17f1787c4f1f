#pragma once

#include "core/bytes.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace telegate::store {

/// An open file of the log.
///
/// Threads: read() and bytes() any; everything else one at a time.
/// Limits:  none.
/// Failure: throws std::system_error that names the file.
class File {
  public:
    File() = default;
    virtual ~File() = default;
    File(const File&) = delete;
    File& operator=(const File&) = delete;

    /// Returns the size in bytes.
    [[nodiscard]] virtual std::uint64_t bytes() const = 0;
    /// Reads from offset `at`. Returns how many bytes were read: fewer than `to.size()` only at the end of the file.
    virtual std::size_t read(std::uint64_t at, std::span<std::byte> to) const = 0;
    /// Writes all of `from` at offset `at`. After a failure, any part of it may have been written.
    virtual void write(std::uint64_t at, Bytes from) = 0;
    virtual void truncate(std::uint64_t bytes) = 0;
    /// Returns after everything written is on the disk, under the name with which the file was opened. After a failure,
    /// data written since the last successful call may be lost, even if a second call succeeds.
    virtual void sync() = 0;
};

/// Prevents other processes from opening the same log for writing while the object exists.
class DirectoryLock {
  public:
    DirectoryLock() = default;
    virtual ~DirectoryLock() = default;
    DirectoryLock(const DirectoryLock&) = delete;
    DirectoryLock& operator=(const DirectoryLock&) = delete;

    /// Whether the directory is still the one that was locked. It is not if it was removed, renamed or unmounted.
    [[nodiscard]] virtual bool is_held() const noexcept { return true; }
};

/// The operations of a file system that the log needs. real_file_system() uses the machine's; the tests simulate a file
/// system that loses power, performs partial writes, and fails.
///
/// Threads: any, but one at a time for one file name.
/// Limits:  none.
/// Failure: throws std::system_error that names the file.
class FileSystem {
  public:
    enum class Mode : std::uint8_t { read, write, create };  // create: the file must not exist

    FileSystem() = default;
    virtual ~FileSystem() = default;
    FileSystem(const FileSystem&) = delete;
    FileSystem& operator=(const FileSystem&) = delete;

    /// Creates the directory unless it exists.
    virtual void make_directory(const std::string& directory) = 0;
    /// Returns the names of the files in a directory, in no particular order.
    [[nodiscard]] virtual std::vector<std::string> list(const std::string& directory) const = 0;
    /// Returns false only if the file is known not to exist.
    [[nodiscard]] virtual bool exists(const std::string& path) const noexcept = 0;
    /// Throws std::system_error with errc::resource_unavailable_try_again if another process holds the lock.
    [[nodiscard]] virtual std::unique_ptr<DirectoryLock> lock(const std::string& directory) = 0;
    /// Makes creations, removals and renames in the directory survive a power failure.
    virtual void sync_directory(const std::string& directory) = 0;
    /// Returns the bytes that an unprivileged process can still write to the file system.
    [[nodiscard]] virtual std::uint64_t free_bytes(const std::string& directory) const = 0;

    [[nodiscard]] virtual std::unique_ptr<File> open(const std::string& path, Mode mode) = 0;
    virtual void remove(const std::string& path) = 0;
    virtual void rename(const std::string& from, const std::string& to) = 0;
};

/// Returns the file system of the machine. New files have mode 0640; symbolic links at the end of a path are refused,
/// and opening a pipe does not wait for its other end.
/// Threads: any.
[[nodiscard]] FileSystem& real_file_system();

}  // namespace telegate::store
