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

/// Where all samples of one run had gone at a time.
struct EpochLedger {
    std::int64_t time_utc_ms = 0;
    Books books;
};

/// One run of the gateway, from start to stop.
struct PastEpoch {
    std::int64_t epoch_ms = 0;
    bool has_ended = false;                                            // by a clean stop, so that its numbers are known
    std::map<std::string, std::uint64_t, std::less<>> last_seqs = {};  // by topic
    std::optional<std::uint64_t> published = {};                       // samples of all channels, if that is known
    std::optional<EpochLedger> ledger = {};  // its last; of a run that was killed, some time before that
};

/// What is shown of one.
struct PastStart {
    std::int64_t epoch_ms = 0;
    bool has_ended = false;
    std::optional<EpochLedger> ledger = {};
};

/// The last ones, oldest first, as the state file has them.
inline constexpr std::size_t past_epochs_max = 8;
/// Channels of all of them together: what a full channel table has. Beyond that the oldest epochs go.
inline constexpr std::size_t past_channels_max = 65'536;
inline constexpr std::size_t state_bytes_max = 16 * 1024 * 1024;

[[nodiscard]] std::string past_epochs_text(const std::vector<PastEpoch>& epochs);
/// Or what is wrong with it and where. Pure. Threads: any.
[[nodiscard]] std::variant<std::vector<PastEpoch>, std::string> read_past_epochs(std::string_view text);

}  // namespace telegate
