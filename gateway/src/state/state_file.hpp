#pragma once

#include "log/log.hpp"
#include "state/file_lock.hpp"
#include "state/past_epochs.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace telegate {

/// The file of the last epochs and of the last sequence number that each channel had in them, so that who comes after a
/// restart can be told what is missing. While the gateway runs its epoch is in the file as not ended, with its last
/// ledger.
///
/// Threads: the main one; note() one, find(), published_after() and past_starts() any, between begin() and end().
/// Limits:  past_epochs_max epochs of past_channels_max channels; a file of state_bytes_max; broken_files_max broken
/// ones
///          beside it.
/// Failure: the constructor throws SettingsError when another gateway has the file, and SettingFailure when it is there
///          and cannot be read. Nothing else keeps a gateway from running: it is logged. A broken file is
///          renamed to PATH.broken, or PATH.broken2 and so on. The file is replaced as a whole, so that it is
///          always an old or a new one; a symbolic link to it stays.
class StateFile {
  public:
    /// Reads it. `path` "": there is none.
    StateFile(const std::string& path, Log& log);

    /// For a start at this time: behind all epochs that are known, so that none is taken for another one, whatever the
    /// clock says. Says so when that is not the time itself.
    [[nodiscard]] std::int64_t choose_epoch(std::int64_t now_ms) const;
    /// Writes that this one has begun, which is behind all others.
    void begin(std::int64_t epoch_ms);
    /// This one still runs, and its samples have gone there. Returns how many bytes were written.
    std::size_t note(const EpochLedger& ledger);
    /// It has ended in order; these are its last numbers, and so many samples were published in it.
    void end(std::map<std::string, std::uint64_t, std::less<>> last_seqs, std::uint64_t published,
             const EpochLedger& ledger);

    /// This epoch or one before it; null when it is not known.
    [[nodiscard]] const PastEpoch* find(std::int64_t epoch_ms) const noexcept;
    /// Samples that were published behind the position of a past epoch, up to the beginning of this one. nullopt: one
    /// of the epochs in between is not known, or did not end in order.
    [[nodiscard]] std::optional<std::uint64_t> published_after(std::int64_t epoch_ms,
                                                               std::uint64_t position) const noexcept;
    /// The epochs before this one, the oldest first.
    [[nodiscard]] std::vector<PastStart> past_starts() const;
    [[nodiscard]] bool is_kept() const noexcept { return !path_.empty(); }
    /// Of the file itself, not of a link to it; "": there is none.
    [[nodiscard]] const std::string& path() const noexcept { return path_; }

  private:
    void lock();
    void read();
    void log_unclean() const;
    std::size_t write();

    const std::string path_;  // of the file itself, no link
    Log& log_;
    FileLock lock_;
    std::vector<PastEpoch> epochs_;  // oldest first; between begin() and end() only note() changes something
    bool has_begun_ = false;         // the last of these is this one
};

}  // namespace telegate
