#pragma once

#include "store/channel_cache.hpp"
#include "store/log_reader.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace telegate::log_tool {

inline constexpr std::size_t reasons = static_cast<std::size_t>(store::GapReason::refused) + 1;

/// The numbers of samples and gaps of a channel, or of several.
struct LedgerCounts {
    std::uint64_t samples = 0;                               // without duplicates
    std::uint64_t gaps = 0;                                  // that named missing samples, for a known reason
    std::array<std::uint64_t, reasons> missing_by_reason{};  // samples
    std::uint64_t duplicates = 0;                            // samples that were seen before
    std::uint64_t inversions = 0;                            // samples after one with a higher number
    std::uint64_t overlaps = 0;                              // gaps with numbers that were seen or named before

    void add(const LedgerCounts& more) noexcept;
    [[nodiscard]] std::uint64_t missing() const noexcept;
    [[nodiscard]] std::uint64_t unknown() const noexcept {
        return missing_by_reason[static_cast<std::size_t>(store::GapReason::unknown)];
    }
};

/// Samples and gaps of one channel in one epoch, in any order. Sequence numbers count from 1.
///
/// Threads: one. Limits: ranges_max. Failure: throws std::bad_alloc.
class ChannelLedger {
  public:
    struct Missing {
        std::uint64_t last_seq = 0;
        store::GapReason reason{};
    };
    using MissingRanges = std::map<std::uint64_t, Missing>;  // by first seq
    /// Further ranges are counted, but not kept, so a sample in one of them counts as a duplicate.
    static constexpr std::size_t ranges_max = 65'536;

    /// Historical samples may follow later ones. They are in order among themselves.
    void add_sample(std::uint64_t seq, bool is_historical = false) {
        if (seq == last_seq_ + 1) {
            last_seq_ = seq;
            ++counts_.samples;
        } else {
            add_jump(seq, is_historical);
        }
        last_historical_seq_ = is_historical ? std::max(seq, last_historical_seq_) : last_historical_seq_;
    }
    /// Names samples as missing, unless they were seen, or named for another reason.
    void add_gap(std::uint64_t first_seq, std::uint64_t last_seq, store::GapReason reason);
    /// All numbers up to this one exist.
    void expect(std::uint64_t last_seq);

    [[nodiscard]] std::uint64_t last_seq() const noexcept { return last_seq_; }
    [[nodiscard]] const LedgerCounts& counts() const noexcept { return counts_; }
    [[nodiscard]] const MissingRanges& missing() const noexcept { return missing_; }
    [[nodiscard]] std::uint64_t ranges_not_kept() const noexcept { return ranges_not_kept_; }

  private:
    void add_jump(std::uint64_t seq, bool is_historical);
    void add_missing(std::uint64_t first_seq, std::uint64_t last_seq, store::GapReason reason);
    bool name_unknown(std::uint64_t first_seq, std::uint64_t last_seq, store::GapReason reason);
    void keep(std::uint64_t first_seq, std::uint64_t last_seq, store::GapReason reason);
    void remove(MissingRanges::iterator range, std::uint64_t first_seq, std::uint64_t last_seq);
    [[nodiscard]] MissingRanges::iterator range_of(std::uint64_t seq);

    std::uint64_t last_seq_ = 0;             // everything up to it was seen, or is missing
    std::uint64_t last_historical_seq_ = 0;  // the highest one
    LedgerCounts counts_;
    MissingRanges missing_;
    std::uint64_t ranges_not_kept_ = 0;
};

/// One start of a gateway.
struct EpochLedger {
    std::int64_t epoch_ms = 0;
    bool is_ended = false;  // the gateway stopped cleanly
    bool is_last = false;   // of the log: if it has not ended, the gateway may still be running
    std::map<std::string, ChannelLedger> channels;

    [[nodiscard]] LedgerCounts counts() const noexcept;
};

struct VerificationTotals : LedgerCounts {
    std::uint64_t epochs = 0;
    std::uint64_t undefined = 0;  // samples and gaps of channels without a name
    std::uint64_t unnamed = 0;    // samples that the reader has omitted because the names of their channels are damaged

    void add(const EpochLedger& epoch) noexcept;
};

/// Checks that the samples and gaps of each channel in each epoch cover all numbers from 1, once and in order.
///
/// Threads: one.
/// Limits:  the channels of one epoch in memory.
/// Failure: throws std::bad_alloc, and exceptions of `epoch_end`.
class Verification {
  public:
    /// `epoch_end` is called with each epoch after its last entry.
    explicit Verification(std::function<void(const EpochLedger&)> epoch_end) : epoch_end_(std::move(epoch_end)) {}

    void add(const store::LogBatch& batch);
    /// Ends the last epoch.
    void finish() { end_epoch(true); }

    [[nodiscard]] const VerificationTotals& totals() const noexcept { return totals_; }

  private:
    void end_epoch(bool is_last);
    [[nodiscard]] ChannelLedger* ledger_of(ChannelId channel);

    std::function<void(const EpochLedger&)> epoch_end_;
    std::optional<EpochLedger> epoch_;
    store::ChannelCache<ChannelLedger*> ledgers_;
    VerificationTotals totals_;
};

}  // namespace telegate::log_tool
