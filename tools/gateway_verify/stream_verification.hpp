#pragma once

#include "gateway_log/log_options.hpp"
#include "gateway_log/verification.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace telegate::verify_tool {

/// Checks that the messages of an uplink, in any order, have or name as missing all samples of each channel in each
/// epoch.
///
/// Threads: one.
/// Limits:  the channels of all epochs in memory.
/// Failure: throws std::bad_alloc. Lines that cannot be read are counted, so that their samples are missing.
class StreamVerification {
  public:
    explicit StreamVerification(log_tool::ChannelFilter channels) : channels_(std::move(channels)) {}

    /// Adds a message of the format `json`: a sample or a gap notice per line.
    void add(std::string_view payload);
    /// All samples of a channel up to `last_seq` exist, so the stream must have them or name them as missing.
    void expect(std::int64_t epoch_ms, const std::string& topic, std::uint64_t last_seq);

    [[nodiscard]] std::uint64_t unreadable_lines() const noexcept { return unreadable_; }
    [[nodiscard]] const std::map<std::int64_t, log_tool::EpochLedger>& epochs() const noexcept { return epochs_; }
    [[nodiscard]] log_tool::VerificationTotals totals() const;

  private:
    [[nodiscard]] bool add_line(std::string_view line);
    /// Returns null if the channel is not selected.
    [[nodiscard]] log_tool::ChannelLedger* ledger_of(std::int64_t epoch_ms, std::string_view device,
                                                     std::string_view channel);

    log_tool::ChannelFilter channels_;
    std::map<std::int64_t, log_tool::EpochLedger> epochs_;
    std::map<std::pair<std::int64_t, std::string>, log_tool::ChannelLedger*> ledgers_;  // null: not selected
    std::pair<std::int64_t, std::string> key_;  // memory that ledger_of() reuses
    std::uint64_t gaps_ = 0;
    std::uint64_t unreadable_ = 0;
};

}  // namespace telegate::verify_tool
