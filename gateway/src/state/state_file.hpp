#pragma once

#include "core/unique_fd.hpp"
#include "log/log.hpp"
#include "state/previous_runs_state.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace telegate {

/// The file with the last epochs and the last sequence number of each channel in them, so after a restart clients can
/// find out which samples they missed. While the gateway runs, the file contains its epoch as not ended, with its last
/// ledger.
///
/// Threads: the main one; record() one, find(), after(), published_from() and previous_runs() any, between begin() and
/// end(). Limits: past_epochs_max epochs with past_channels_max channels; a file of state_bytes_max; broken_files_max
/// broken files next to it. Failure: the constructor throws SettingsError if another gateway uses the file, and
/// SettingFailure if it exists but cannot be read. Other errors are logged and do not stop the gateway. A broken file
/// is renamed to PATH.broken, or PATH.broken2 and so on. The file is always replaced atomically; a symbolic link to it
/// is kept.
class StateFile {
  public:
    /// Reads the file. `path` "": no file.
    StateFile(const std::string& path, Log& log);

    /// Returns the epoch for a start at this time. It is later than all known epochs, and than `logged_ms`, the last
    /// one of the logs, so epochs stay unique even if the clock is wrong. Logs a warning if it is not `now_ms`.
    [[nodiscard]] std::int64_t choose_epoch(std::int64_t now_ms, std::int64_t logged_ms) const;
    /// Records the last known sequence numbers of an epoch that did not end cleanly. Has no effect on any other epoch.
    void learn(std::int64_t epoch_ms, std::map<std::string, std::uint64_t, std::less<>> last_seqs);
    /// Writes that the epoch has begun. It must be later than all others.
    void begin(std::int64_t epoch_ms);
    /// Writes the current ledger of the running epoch. Returns the number of bytes written.
    std::size_t record(const EpochLedger& ledger);
    /// Writes that the epoch has ended cleanly, with its last sequence numbers and the number of samples published in
    /// it.
    void end(std::map<std::string, std::uint64_t, std::less<>> last_seqs, std::uint64_t published,
             const EpochLedger& ledger);

    /// Returns the current or an earlier epoch, or nullptr if it is unknown.
    [[nodiscard]] const PastEpoch* find(std::int64_t epoch_ms) const noexcept;
    /// Returns the epoch that followed one that find() knows; 0: none.
    [[nodiscard]] std::int64_t after(std::int64_t epoch_ms) const noexcept;
    /// Returns the number of samples that were published from a position of a past epoch on, until the epoch
    /// `before_ms`, or the current one, began. Returns nullopt if the epoch is unknown, or one of those that are
    /// counted did not end cleanly.
    [[nodiscard]] std::optional<std::uint64_t> published_from(std::int64_t epoch_ms, std::uint64_t position,
                                                              std::int64_t before_ms) const noexcept;
    /// Returns the epochs before the current one, oldest first.
    [[nodiscard]] std::vector<PreviousRun> previous_runs() const;
    [[nodiscard]] bool is_kept() const noexcept { return !path_.empty(); }
    /// Returns the path of the file itself, with links resolved; "" if there is no file.
    [[nodiscard]] const std::string& path() const noexcept { return path_; }

  private:
    void lock();
    void read();
    void log_unclean() const;
    std::size_t write();

    const std::string path_;  // of the file itself, with links resolved
    Log& log_;
    UniqueFd lock_;                  // of PATH.lock, because the file itself is replaced; PATH.lock remains
    std::vector<PastEpoch> epochs_;  // oldest first; between begin() and end() only record() changes an element
    bool has_begun_ = false;         // the last element is the current epoch
};

}  // namespace telegate
