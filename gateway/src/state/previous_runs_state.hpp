#pragma once

#include "core/ledger.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace telegate {

/// The ledger of a run at a point in time.
struct EpochLedger {
    std::int64_t time_utc_ms = 0;
    LedgerCounts counts;
};

/// One run of the gateway, from start to stop.
struct PastEpoch {
    std::int64_t epoch_ms = 0;
    // by a clean stop, so its last sequence numbers are known
    bool has_ended = false;
    // by topic; if the run did not end cleanly: as known from the durable log, or empty
    std::map<std::string, std::uint64_t, std::less<>> last_seqs = {};
    std::optional<std::uint64_t> published = {};  // samples of all channels, if known
    std::optional<EpochLedger> ledger = {};       // the last one; of a killed run, from some time before its end
};

/// The part of a run that the status shows.
struct PreviousRun {
    std::int64_t epoch_ms = 0;
    bool has_ended = false;
    std::optional<EpochLedger> ledger = {};
};

/// Number of runs in the state file; they are ordered from oldest to newest.
inline constexpr std::size_t past_epochs_max = 8;
/// Channels of all runs together: the capacity of the channel table. Beyond that the oldest runs are removed.
inline constexpr std::size_t past_channels_max = 65'536;
inline constexpr std::size_t state_bytes_max = 16 * 1024 * 1024;

[[nodiscard]] std::string past_epochs_text(const std::vector<PastEpoch>& epochs);
/// Parses a state file. Returns the runs, or what is wrong and where. Threads: any.
[[nodiscard]] std::variant<std::vector<PastEpoch>, std::string> read_past_epochs(std::string_view text);

}  // namespace telegate
