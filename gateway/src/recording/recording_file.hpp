#pragma once

#include "core/bytes.hpp"
#include "core/unique_fd.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace telegate {

/// The output of a recorder. Implemented by RecordingFile and by a faulty output in the tests.
///
/// Threads: one.
/// Failure: all functions except is_in_place() throw std::runtime_error or a derived exception, whose text names the
/// file; they can be retried.
class RecordingOutput {
  public:
    struct Opened {
        std::uint64_t bytes = 0;        // size of the file; 0: a new file
        std::uint32_t next_number = 0;  // number of its next record
        std::uint64_t cut_bytes = 0;    // of a truncated record, which have been removed
        // why the existing file was renamed as damaged and a new one started; "": it was not
        std::string set_aside = {};
    };

    virtual ~RecordingOutput() = default;
    [[nodiscard]] virtual Opened open() = 0;
    /// Writes all bytes or none.
    virtual void write(Bytes bytes) = 0;
    virtual void sync() = 0;
    /// Renames the file and closes it; open() starts a new one.
    virtual void rotate() = 0;
    /// Returns whether the open file still has its name; it may have been removed.
    [[nodiscard]] virtual bool is_in_place() const noexcept = 0;
};

/// A recording on disk: PATH and its older files PATH.1, PATH.2, ... A lock on the file ensures that only one recorder
/// writes to it.
///
/// Limits: files_max files, including PATH. Mode 0640, modified by the umask.
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
