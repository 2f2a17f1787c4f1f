#pragma once

#include "gateway_log/log_options.hpp"
#include "gateway_log/verification.hpp"
#include "nats_stream.hpp"

#include "core/telemetry_sample.hpp"
#include "store/block.hpp"
#include "store/segment_format.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace telegate::verify_tool {

/// Checks that the messages of an uplink, in any order, have or name as missing all samples of each channel in each
/// epoch. Historical messages are a sequence of their own: samples in them may follow later ones.
///
/// Threads: one.
/// Limits:  the channels of all epochs in memory.
/// Failure: throws std::bad_alloc. Messages of which a part cannot be read are counted; the samples in it are missing.
class StreamVerification {
  public:
    explicit StreamVerification(log_tool::ChannelFilter channels) : channels_(std::move(channels)) {}

    /// Adds a message of an uplink. Returns false if a part of it cannot be read.
    bool add(const StreamMessage& message);
    /// All samples of a channel up to `last_seq` exist, so the stream must have them or name them as missing.
    void expect(std::int64_t epoch_ms, const std::string& topic, std::uint64_t last_seq);

    [[nodiscard]] const std::map<std::int64_t, log_tool::EpochLedger>& epochs() const noexcept { return epochs_; }
    [[nodiscard]] log_tool::VerificationTotals totals() const;

  private:
    using Ledger = log_tool::ChannelLedger;

    [[nodiscard]] bool add_lines(std::string_view payload);
    [[nodiscard]] bool add_line(std::string_view line);
    [[nodiscard]] bool add_cbor(std::string_view payload);
    [[nodiscard]] bool add_object(const nlohmann::json& object);
    [[nodiscard]] bool add_records(std::string_view payload);
    [[nodiscard]] bool add_record(std::string_view record, const std::vector<std::string_view>& topics);
    [[nodiscard]] bool add_segment(std::string_view payload);
    [[nodiscard]] bool add_block(std::int64_t epoch_ms, const std::vector<store::SegmentChannel>& definitions);
    void add_sample(Ledger* ledger, std::uint64_t seq);
    [[nodiscard]] static bool add_gap(Ledger* ledger, const store::LogGap& gap);
    /// Returns null if the channel is not selected.
    [[nodiscard]] Ledger* ledger_of(std::int64_t epoch_ms, std::string_view device, std::string_view channel);

    log_tool::ChannelFilter channels_;
    std::map<std::int64_t, log_tool::EpochLedger> epochs_;
    std::map<std::pair<std::int64_t, std::string>, Ledger*> ledgers_;  // null: not selected
    std::pair<std::int64_t, std::string> key_;                         // memory that ledger_of() reuses
    store::BlockDecoder decoder_;
    store::BlockHead head_;  // of the block that is read, like the samples
    std::vector<TelemetrySample> samples_;
    bool is_historical_ = false;  // of the message that is read
};

}  // namespace telegate::verify_tool
