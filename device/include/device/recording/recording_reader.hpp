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

/// The source of the bytes of a recording: a file, or bytes in a test.
class RecordingSource {
  public:
    virtual ~RecordingSource() = default;
    /// Reads up to `into.size()` bytes from `offset`. Returns the number of bytes, which is smaller only at the end, or
    /// -errno.
    virtual std::ptrdiff_t read_at(std::uint64_t offset, std::span<std::byte> into) noexcept = 0;
};

/// An open file. Does not own the descriptor and does not change its position.
class FileSource final : public RecordingSource {
  public:
    explicit FileSource(int descriptor) noexcept : descriptor_(descriptor) {}
    std::ptrdiff_t read_at(std::uint64_t offset, std::span<std::byte> into) noexcept override;

  private:
    int descriptor_;
};

/// Reads a recording from front to back. A damaged range is reported once and skipped if a whole record follows it.
/// Otherwise it is a truncated tail, and the recording ends before it.
///
/// Threads: one.
/// Limits: one buffer of buffer_bytes. After damage, the search for the next record ends when search_bytes_max bytes
/// have been checksummed without success; the rest then counts as truncated. One call of next() searches about
/// search_step_bytes.
/// Failure: next() returns Step::failed or Step::damaged. The constructor may throw std::bad_alloc.
class RecordingReader {
  public:
    static constexpr std::size_t buffer_bytes = 262'144;  // several of the largest records
    /// Enough for hundreds of false record headers; takes tens of milliseconds.
    static constexpr std::uint64_t search_bytes_max = 67'108'864;

    /// Takes tens of milliseconds. After that, the caller may want to stop.
    static constexpr std::uint64_t search_step_bytes = 4'194'304;

    explicit RecordingReader(RecordingSource& source);

    enum class Step : std::uint8_t {
        record,     // record() is the next record
        searching,  // searching after damage; next() continues
        damaged,    // fault() says what and where; next() continues after it
        end,        // no more whole records; torn_bytes() remain
        failed,     // fault() is a system error, or says that this is not a recording; permanent
    };
    [[nodiscard]] Step next() noexcept;

    /// Valid until the next call of next().
    [[nodiscard]] const Record& record() const noexcept { return record_; }
    [[nodiscard]] std::string_view fault() const noexcept { return fault_; }
    /// Returns where the next record begins; at the end, where the last whole record ends.
    [[nodiscard]] std::uint64_t offset() const noexcept { return offset_; }
    [[nodiscard]] std::uint64_t torn_bytes() const noexcept { return torn_bytes_; }
    /// Returns the number of bytes that were skipped between whole records.
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

    /// The search for a whole record after damage. It can span several calls of next().
    struct Search {
        std::string_view what;        // describes the damage
        std::uint64_t at = 0;         // current position; 0: no search in progress
        std::uint64_t summed_up = 0;  // bytes that were checksummed
        bool is_in_vain = false;      // the search was stopped: only the end of the file is searched
    };

    RecordingSource& source_;
    const std::unique_ptr<std::byte[]> buffer_;
    std::uint64_t buffer_at_ = 0;    // file offset of its first byte
    std::size_t buffer_filled_ = 0;  // bytes in the buffer
    bool buffer_ends_ = false;       // the file ends in the buffer
    int error_ = 0;                  // errno of the last read
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

}  // namespace telegate::recording
