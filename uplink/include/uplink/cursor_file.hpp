#pragma once

#include "uplink/receipts.hpp"

#include "store/file_system.hpp"
#include "store/segment_format.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace telegate::uplink {

/// A part of the log that is delivered after later parts.
struct BacklogRange {
    store::Position begin = 0;
    store::Position end = 0;

    bool operator==(const BacklogRange&) const = default;
};

/// How far an uplink has delivered a log.
struct Cursor {
    static constexpr std::size_t backlog_max = 32;  // each outage that is not delivered yet is a range

    store::LogId log_id{};
    store::Position position = 0;  // everything before it is delivered, except for the backlog
    bool is_paused = false;
    std::vector<BacklogRange> backlog = {};  // at most backlog_max, in order
    store::Position resend_from = 0;         // see Receipts
    Place last_place = 0;                    // of the back end
    std::uint64_t stream = 0;                // of the back end, see BackEnd; 0: unknown
    std::uint64_t encoding = 0;              // digest of the settings of messages; 0: unknown
    store::Position encoded_from = 0;        // messages before it were delivered with other settings

    /// Returns the position before which everything is delivered.
    [[nodiscard]] store::Position oldest() const noexcept { return backlog.empty() ? position : backlog.front().begin; }
    /// Marks everything from `target` on as not delivered: as a range of the backlog, if `as_backlog` and its limit
    /// permits another one.
    void move_back(store::Position target, bool as_backlog);
    /// Whether its positions can belong together.
    [[nodiscard]] bool is_consistent() const noexcept;

    bool operator==(const Cursor&) const = default;
};

/// The cursor of one uplink on disk, in the directory of the log: NAME.cursor. The file has two slots that are written
/// in turn, so one of them is intact after a crash or a power failure.
///
/// Threads: one.
/// Limits:  two slots of slot_bytes bytes.
/// Failure: write() throws std::system_error; the file then has the cursor before or this one. read() throws
///          std::system_error if an existing file cannot be read.
class CursorFile {
  public:
    static constexpr std::size_t slot_bytes = 4'096;  // whole sectors: a torn write does not damage the other slot

    CursorFile(store::FileSystem& files, std::string directory, std::string_view uplink);

    /// Returns the last cursor written; nullopt if there is none or no slot is intact and consistent.
    [[nodiscard]] std::optional<Cursor> read();
    /// Whether read() has found a file that had a cursor, and has none that is intact.
    [[nodiscard]] bool is_damaged() const noexcept { return is_damaged_; }
    /// Whether read() has found a file without an intact cursor that may never have had one: the power may have failed
    /// before the first one was written.
    [[nodiscard]] bool is_blank() const noexcept { return is_blank_; }
    /// Returns after the cursor is on the disk. read() must have been called before.
    void write(const Cursor& cursor);

    [[nodiscard]] const std::string& path() const noexcept { return path_; }

  private:
    void open_or_create();

    store::FileSystem& files_;
    const std::string directory_;
    const std::string path_;
    std::unique_ptr<store::File> file_;  // null: not open for writing
    std::uint64_t number_ = 0;           // of the last slot written
    bool is_damaged_ = false;
    bool is_blank_ = false;
};

}  // namespace telegate::uplink
