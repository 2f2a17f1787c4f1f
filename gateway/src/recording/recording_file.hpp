#pragma once

#include "core/bytes.hpp"
#include "core/unique_fd.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace telegate {

/// Where a recorder writes to. Two implementations: RecordingFile, and the faulty one of the tests.
///
/// Threads: one.
/// Failure: everything but is_in_place() throws std::runtime_error or what is derived from it, in words that name the
///          file, and may be tried again.
class RecordingOutput {
  public:
    struct Opened {
        std::uint64_t bytes = 0;        // that it has; 0: it is a new one
        std::uint32_t next_number = 0;  // of its next record
        std::uint64_t cut_bytes = 0;    // of a torn record, which are gone now
        std::string set_aside = {};     // why the file that was there was damaged and is another one now; "": it is not
    };

    virtual ~RecordingOutput() = default;
    [[nodiscard]] virtual Opened open() = 0;
    /// All of it, or nothing.
    virtual void write(Bytes bytes) = 0;
    virtual void sync() = 0;
    /// Puts the file aside and closes it; open() begins a new one.
    virtual void rotate() = 0;
    /// Whether the file is the one that has the name: it may have been removed.
    [[nodiscard]] virtual bool is_in_place() const noexcept = 0;
};

/// A recording on disk: PATH, and those before it, PATH.1, PATH.2, ... One recorder writes to it, which a lock on the
/// file ensures.
///
/// Limits:  files_max files, with PATH. Mode 0640, less what the umask takes.
/// Failure: as RecordingOutput. A symbolic link at the end of the path is not followed.
class RecordingFile final : public RecordingOutput {
  public:
    RecordingFile(std::string path, std::size_t files_max);

    [[nodiscard]] Opened open() override;
    void write(Bytes bytes) override;
    void sync() override;
    void rotate() override;
    [[nodiscard]] bool is_in_place() const noexcept override;

  private:
    void open_locked();
    void keep_files(std::size_t files_max);
    void sync_folder() const;
    [[nodiscard]] std::string name_of(std::size_t file) const;

    const std::string path_;
    const std::size_t files_max_;
    UniqueFd file_;
    std::uint64_t bytes_ = 0;
};

}  // namespace telegate
