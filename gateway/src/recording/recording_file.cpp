#include "recording/recording_file.hpp"

#include "device/recording/recording_reader.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace telegate {
namespace {

constexpr mode_t file_mode = 0640;

[[noreturn]] void fail_to_record(const std::string& what, int error) {
    throw std::runtime_error(what + ": " + std::generic_category().message(error));
}

struct stat facts_of(int descriptor, const std::string& path) {
    struct stat facts {};
    if (::fstat(descriptor, &facts) != 0) {
        fail_to_record(path, errno);
    }
    return facts;
}

}  // namespace

RecordingFile::RecordingFile(std::string path, std::size_t files_max) : path_(std::move(path)), files_max_(files_max) {}

RecordingFile::Opened RecordingFile::open() {
    open_locked();
    Opened opened;
    const auto file_bytes = static_cast<std::uint64_t>(facts_of(file_.get(), path_).st_size);
    recording::FileSource source(file_.get());
    const recording::AppendPoint point = recording::find_append_point(source, file_bytes);
    if (!point.fault.empty() && !point.is_recording) {
        file_ = UniqueFd();
        throw std::runtime_error(path_ + ": " + point.fault + "; the file was not changed");
    }
    if (!point.fault.empty()) {  // appending would hide the fault, truncating would lose the data after it
        opened.set_aside = point.fault;
        keep_files(std::max<std::size_t>(files_max_, 2));  // the damaged file may contain valuable data
        open_locked();
        return opened;
    }
    if (point.offset < file_bytes && ::ftruncate(file_.get(), static_cast<off_t>(point.offset)) != 0) {
        fail_to_record(path_ + ": truncate at " + std::to_string(point.offset), errno);
    }
    bytes_ = point.offset;
    opened.bytes = point.offset;
    opened.next_number = point.next_number;
    opened.cut_bytes = file_bytes - point.offset;
    return opened;
}

void RecordingFile::open_locked() {
    bytes_ = 0;
    file_ = UniqueFd();
    // Opening a FIFO without a reader would block.
    UniqueFd file(::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, file_mode));
    if (file.get() < 0) {
        const int error = errno;
        fail_to_record(path_ + (error == ELOOP ? ": is a symbolic link" : ""), error);
    }
    if (!S_ISREG(facts_of(file.get(), path_).st_mode)) {
        throw std::runtime_error(path_ + ": is not a regular file");
    }
    if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
        const int error = errno;
        if (error == EWOULDBLOCK) {
            throw std::runtime_error(path_ + ": is in use by another recorder");
        }
        fail_to_record(path_ + ": lock", error);
    }
    file_ = std::move(file);
    if (!is_in_place()) {
        file_ = UniqueFd();
        throw std::runtime_error(path_ + ": was replaced while it was being opened");
    }
    sync_folder();
}

bool RecordingFile::is_in_place() const noexcept {
    struct stat open {};
    struct stat named {};
    return ::fstat(file_.get(), &open) == 0 && ::lstat(path_.c_str(), &named) == 0 && open.st_ino == named.st_ino &&
           open.st_dev == named.st_dev;
}

void RecordingFile::write(Bytes bytes) {
    std::size_t written = 0;
    while (written < bytes.size()) {
        const ssize_t count =
            ::pwrite(file_.get(), bytes.data() + written, bytes.size() - written, static_cast<off_t>(bytes_ + written));
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count <= 0) {
            const int error = count == 0 ? ENOSPC : errno;
            // Removes a partial record. If the truncation fails, the partial record is overwritten or truncated later.
            [[maybe_unused]] const int cut = ::ftruncate(file_.get(), static_cast<off_t>(bytes_));
            fail_to_record(path_, error);
        }
        written += static_cast<std::size_t>(count);
    }
    bytes_ += written;
}

void RecordingFile::sync() {
    if (::fdatasync(file_.get()) != 0) {
        fail_to_record(path_ + ": sync", errno);
    }
}

std::string RecordingFile::name_of(std::size_t file) const {
    return file == 0 ? path_ : path_ + '.' + std::to_string(file);
}

void RecordingFile::rotate() {
    keep_files(files_max_);
}

void RecordingFile::keep_files(std::size_t files_max) {
    if (files_max == 1 && ::unlink(path_.c_str()) != 0 && errno != ENOENT) {
        fail_to_record(path_ + ": remove", errno);
    }
    for (std::size_t file = files_max - 1; file > 0; --file) {
        if (std::rename(name_of(file - 1).c_str(), name_of(file).c_str()) != 0 && errno != ENOENT) {
            fail_to_record(name_of(file - 1) + ": rename to " + name_of(file), errno);
        }
    }
    file_ = UniqueFd();
}

/// Without this, a power failure could lose the directory entry of a new file.
void RecordingFile::sync_folder() const {
    const std::string folder = std::filesystem::path(path_).parent_path().string();
    const UniqueFd open(::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (open.get() >= 0) {
        [[maybe_unused]] const int synced = ::fsync(open.get());  // some file systems do not support or need it
    }
}

}  // namespace telegate
