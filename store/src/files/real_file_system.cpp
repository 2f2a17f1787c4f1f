#include "store/file_system.hpp"

#include "core/unique_fd.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

namespace telegate::store {
namespace {

constexpr mode_t file_mode = 0640;
constexpr mode_t directory_mode = 0750;
constexpr const char* lock_name = "/lock";

[[noreturn]] void fail(const std::string& what, const std::string& path) {
    throw std::system_error(errno, std::generic_category(), "cannot " + what + " " + path);
}

/// Repeats a system call that a signal has interrupted.
template <class Call>
auto retry(const Call& call) {
    auto result = call();
    while (result < 0 && errno == EINTR) {
        result = call();
    }
    return result;
}

UniqueFd open_path(const std::string& path, int flags, const char* what) {
    UniqueFd descriptor(retry([&] { return ::open(path.c_str(), flags | O_CLOEXEC, file_mode); }));
    if (descriptor.get() < 0) {
        fail(what, path);
    }
    return descriptor;
}

/// Whether `path` still is the name of an open file.
bool is_named(const UniqueFd& descriptor, const std::string& path) noexcept {
    struct stat open {};
    struct stat named {};
    return ::fstat(descriptor.get(), &open) == 0 && ::lstat(path.c_str(), &named) == 0 && open.st_dev == named.st_dev &&
           open.st_ino == named.st_ino;
}

class RealFile final : public File {
  public:
    RealFile(UniqueFd descriptor, std::string path) : descriptor_(std::move(descriptor)), path_(std::move(path)) {}

    std::uint64_t bytes() const override {
        struct stat status {};
        if (::fstat(descriptor_.get(), &status) != 0) {
            fail("read the size of", path_);
        }
        return static_cast<std::uint64_t>(status.st_size);
    }

    std::size_t read(std::uint64_t at, std::span<std::byte> to) const override {
        std::size_t done = 0;
        while (done < to.size()) {
            const ssize_t bytes = retry([&] {
                return ::pread(descriptor_.get(), to.data() + done, to.size() - done, static_cast<off_t>(at + done));
            });
            if (bytes < 0) {
                fail("read", path_);
            }
            if (bytes == 0) {
                break;
            }
            done += static_cast<std::size_t>(bytes);
        }
        return done;
    }

    void write(std::uint64_t at, Bytes from) override {
        while (!from.empty()) {
            const ssize_t bytes =
                retry([&] { return ::pwrite(descriptor_.get(), from.data(), from.size(), static_cast<off_t>(at)); });
            if (bytes < 0) {
                fail("write", path_);
            }
            from = from.subspan(static_cast<std::size_t>(bytes));
            at += static_cast<std::uint64_t>(bytes);
        }
    }

    void truncate(std::uint64_t bytes) override {
        if (retry([&] { return ::ftruncate(descriptor_.get(), static_cast<off_t>(bytes)); }) != 0) {
            fail("truncate", path_);
        }
    }

    void sync() override {
        if (::fdatasync(descriptor_.get()) != 0) {
            fail("sync", path_);
        }
        if (!is_named(descriptor_, path_)) {
            throw std::system_error(std::make_error_code(std::errc::no_such_file_or_directory),
                                    path_ + " was removed or replaced");
        }
    }

  private:
    const UniqueFd descriptor_;
    const std::string path_;
};

class RealLock final : public DirectoryLock {
  public:
    RealLock(UniqueFd descriptor, std::string path) : descriptor_(std::move(descriptor)), path_(std::move(path)) {}

    bool is_held() const noexcept override { return is_named(descriptor_, path_); }

  private:
    const UniqueFd descriptor_;
    const std::string path_;
};

class RealFileSystem final : public FileSystem {
  public:
    void make_directory(const std::string& directory) override {
        if (::mkdir(directory.c_str(), directory_mode) != 0 && errno != EEXIST) {
            fail("create the directory", directory);
        }
    }

    std::vector<std::string> list(const std::string& directory) const override {
        std::vector<std::string> names;
        for (const auto& entry : std::filesystem::directory_iterator(directory)) {
            names.push_back(entry.path().filename().string());
        }
        return names;
    }

    bool exists(const std::string& path) const noexcept override {
        return ::access(path.c_str(), F_OK) == 0 || (errno != ENOENT && errno != ENOTDIR);
    }

    std::unique_ptr<DirectoryLock> lock(const std::string& directory) override {
        UniqueFd descriptor = open_path(directory + lock_name, O_RDWR | O_CREAT | O_NOFOLLOW, "open");
        if (retry([&] { return ::flock(descriptor.get(), LOCK_EX | LOCK_NB); }) != 0) {
            fail("lock", directory);
        }
        return std::make_unique<RealLock>(std::move(descriptor), directory + lock_name);
    }

    void sync_directory(const std::string& directory) override {
        const UniqueFd descriptor = open_path(directory, O_RDONLY | O_DIRECTORY, "open");
        if (::fsync(descriptor.get()) != 0) {
            fail("sync", directory);
        }
    }

    std::uint64_t free_bytes(const std::string& directory) const override {
        struct statvfs status {};
        if (retry([&] { return ::statvfs(directory.c_str(), &status); }) != 0) {
            fail("read the free space of", directory);
        }
        return static_cast<std::uint64_t>(status.f_bavail) * status.f_frsize;
    }

    std::unique_ptr<File> open(const std::string& path, Mode mode) override {
        switch (mode) {
            case Mode::read:
                return std::make_unique<RealFile>(open_path(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, "open"), path);
            case Mode::write: return std::make_unique<RealFile>(open_path(path, O_RDWR | O_NOFOLLOW, "open"), path);
            case Mode::create: break;
        }
        return std::make_unique<RealFile>(open_path(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, "create"), path);
    }

    void remove(const std::string& path) override {
        if (::unlink(path.c_str()) != 0 && errno != ENOENT) {
            fail("remove", path);
        }
    }

    void rename(const std::string& from, const std::string& to) override {
        if (::rename(from.c_str(), to.c_str()) != 0) {
            fail("rename", from);
        }
    }
};

}  // namespace

FileSystem& real_file_system() {
    static RealFileSystem file_system;
    return file_system;
}

}  // namespace telegate::store
