#pragma once

#include "core/bytes.hpp"
#include "device/recording/recording_format.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace telegate::recording {

/// Where the bytes of a recording come from. Two implementations: a file, and the bytes of a test.
class RecordingSource {
  public:
    virtual ~RecordingSource() = default;
    /// Up to so many bytes from `offset` on; fewer, or none, at the end only. A negative number is -errno.
    virtual std::ptrdiff_t read_at(std::uint64_t offset, std::span<std::byte> into) noexcept = 0;
};

/// A file that is open. It belongs to somebody else, and its position stays.
class FileSource final : public RecordingSource {
  public:
    explicit FileSource(int descriptor) noexcept : descriptor_(descriptor) {}
    std::ptrdiff_t read_at(std::uint64_t offset, std::span<std::byte> into) noexcept override;

  private:
    int descriptor_;
};

/// Reads a recording from front to back. What is damaged is told once and passed over, if a whole record follows
/// somewhere behind it; otherwise it is a tail that was torn off, and the recording ends before it.
///
/// Threads: one.
/// Limits:  one buffer of buffer_bytes. Behind a damage the next record is looked for until so many bytes have been
///          summed up for it in vain: search_bytes_max. Then all that is left counts as torn off. next() passes over
///          search_step_bytes of it at a time, a few buffers more where it has to.
/// Failure: next() says so. The constructor may throw std::bad_alloc.
class RecordingReader {
  public:
    static constexpr std::size_t buffer_bytes = 262'144;  // several of the largest records
    /// Hundreds of records that seem to begin and do not; some tens of milliseconds.
    static constexpr std::uint64_t search_bytes_max = 67'108'864;

    /// Some tens of milliseconds, after which whoever waits may want to stop.
    static constexpr std::uint64_t search_step_bytes = 4'194'304;

    explicit RecordingReader(RecordingSource& source);

    enum class Step : std::uint8_t {
        record,     // record() is the next one
        searching,  // behind a damage; next() goes on with it
        damaged,    // fault() says what and where; next() goes on behind it
        end,        // no more whole records; torn_bytes() are left
        failed,     // fault() says what the system said, or that this is no recording; it stays so
    };
    [[nodiscard]] Step next() noexcept;

    /// Valid until next().
    [[nodiscard]] const Record& record() const noexcept { return record_; }
    [[nodiscard]] std::string_view fault() const noexcept { return fault_; }
    /// Where the next record begins; at the end: where the last whole one ends.
    [[nodiscard]] std::uint64_t offset() const noexcept { return offset_; }
    /// What the next record of the file is to be called.
    [[nodiscard]] std::uint32_t next_number() const noexcept { return number_; }
    [[nodiscard]] std::uint64_t torn_bytes() const noexcept { return torn_bytes_; }
    /// Bytes that were passed over in the middle.
    [[nodiscard]] std::uint64_t damaged_bytes() const noexcept { return damaged_bytes_; }

  private:
    [[nodiscard]] Step begin() noexcept;
    [[nodiscard]] Step pass_damage(std::string_view what) noexcept;
    [[nodiscard]] Step search_behind(std::string_view what) noexcept;
    [[nodiscard]] Step search() noexcept;
    [[nodiscard]] Step find_end(std::uint64_t until) noexcept;
    [[nodiscard]] Parsed parse_at(std::uint64_t offset) noexcept;
    [[nodiscard]] Bytes bytes_at(std::uint64_t offset, std::size_t count) noexcept;
    [[nodiscard]] Step fail(std::string_view what, std::uint64_t offset) noexcept;
    void say(std::string_view what, std::uint64_t offset) noexcept;

    /// For a whole record behind a damage, from one next() to another.
    struct Search {
        std::string_view what;        // the damage
        std::uint64_t at = 0;         // so far; 0: nothing is searched for
        std::uint64_t summed_up = 0;  // bytes
        bool is_in_vain = false;      // only the end of the file is looked for
    };

    RecordingSource& source_;
    const std::unique_ptr<std::byte[]> buffer_;
    std::uint64_t buffer_at_ = 0;    // offset of its first byte
    std::size_t buffer_filled_ = 0;  // bytes in it
    bool buffer_ends_ = false;       // the file ends with it
    int error_ = 0;                  // of the system
    std::uint64_t offset_ = 0;
    std::uint32_t number_ = 0;
    Search search_;
    std::uint64_t torn_bytes_ = 0;
    std::uint64_t damaged_bytes_ = 0;
    Record record_ = Unknown{};
    std::string fault_;
    bool begun_ = false;
    bool failed_ = false;
    bool ended_ = false;
};

/// Where a recorder may go on in a file.
struct AppendPoint {
    std::uint64_t offset = 0;  // what is behind it is to be cut
    std::uint32_t next_number = 0;
    std::string fault = {};    // "": it may
    bool is_recording = true;  // what may not be gone on with may be no recording, or not be readable
};
/// `file_bytes` is the size of the file. A file that ended in order is not read as a whole, others are.
[[nodiscard]] AppendPoint find_append_point(RecordingSource& source, std::uint64_t file_bytes);

}  // namespace telegate::recording
