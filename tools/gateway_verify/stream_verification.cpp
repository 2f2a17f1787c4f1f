#include "stream_verification.hpp"

#include "gateway_tail/json_scan.hpp"
#include "gateway_tail/parse_any.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>

namespace telegate::verify_tool {
namespace {

using LineJson = nlohmann::json;

template <class Value>
Value member_of(const LineJson& object, const char* key, const Value& otherwise) {
    const auto found = object.find(key);
    try {
        return found == object.end() ? otherwise : found->get<Value>();
    } catch (const LineJson::exception&) {
        return otherwise;
    }
}

/// Returns nullopt for a word that is not a reason of the log.
std::optional<store::GapReason> parse_gap_reason(std::string_view text) {
    for (std::size_t i = 1; i < log_tool::reasons; ++i) {
        if (to_string(static_cast<store::GapReason>(i)) == text) {
            return static_cast<store::GapReason>(i);
        }
    }
    return std::nullopt;
}

}  // namespace

void StreamVerification::add(std::string_view payload) {
    while (!payload.empty()) {
        const std::size_t end = std::min(payload.find('\n'), payload.size());
        if (!add_line(payload.substr(0, end))) {
            ++unreadable_;
        }
        payload.remove_prefix(std::min(end + 1, payload.size()));
    }
}

bool StreamVerification::add_line(std::string_view line) {
    tail::ScannedSample scanned;
    std::string_view rest = line;
    if (tail::scan_sample(rest, scanned) && rest.empty()) {
        if (auto* const ledger = ledger_of(scanned.sample.epoch, scanned.device, scanned.channel)) {
            ledger->add_sample(scanned.sample.seq);
        }
        return true;
    }
    const LineJson object = line.size() > tail::payload_bytes_max ? LineJson() : LineJson::parse(line, nullptr, false);
    const auto device = member_of(object, "device", std::string());
    const auto channel = member_of(object, "channel", std::string());
    const auto epoch_ms = member_of(object, "epoch", std::int64_t{0});
    if (device.empty() || channel.empty() || epoch_ms <= 0) {
        return false;
    }
    auto* const ledger = ledger_of(epoch_ms, device, channel);
    if (const auto seq = member_of(object, "seq", std::uint64_t{0}); seq > 0 && seq <= tail::seq_max) {
        if (ledger != nullptr) {
            ledger->add_sample(seq);
        }
        return true;
    }
    const auto first_seq = member_of(object, "first_seq", std::uint64_t{0});
    const auto last_seq = member_of(object, "last_seq", std::uint64_t{0});
    const auto reason = parse_gap_reason(member_of(object, "reason", std::string()));
    if (first_seq == 0 || first_seq > last_seq || last_seq > tail::seq_max || !reason) {
        return false;
    }
    if (ledger != nullptr && ledger->add_gap(first_seq, last_seq, *reason) && reason != store::GapReason::unknown) {
        ++gaps_;
    }
    return true;
}

log_tool::ChannelLedger* StreamVerification::ledger_of(std::int64_t epoch_ms, std::string_view device,
                                                       std::string_view channel) {
    key_.first = epoch_ms;
    key_.second.assign(device).append("/").append(channel);
    const auto [found, is_new] = ledgers_.try_emplace(key_, nullptr);
    if (is_new && channels_.matches(key_.second)) {
        log_tool::EpochLedger& epoch = epochs_[epoch_ms];
        epoch.epoch_ms = epoch_ms;
        found->second = &epoch.channels[key_.second];
    }
    return found->second;
}

void StreamVerification::expect(std::int64_t epoch_ms, const std::string& topic, std::uint64_t last_seq) {
    const std::size_t slash = topic.find('/');
    if (auto* const ledger = ledger_of(epoch_ms, topic.substr(0, slash), topic.substr(slash + 1))) {
        ledger->expect(last_seq);
    }
}

log_tool::VerificationTotals StreamVerification::totals() const {
    log_tool::VerificationTotals totals;
    for (const auto& [epoch_ms, epoch] : epochs_) {
        totals.add(epoch);
    }
    totals.gaps = gaps_;
    return totals;
}

}  // namespace telegate::verify_tool
