#include "stream_verification.hpp"

#include "encode/notice.hpp"
#include "gateway_tail/json_scan.hpp"
#include "gateway_tail/parse_any.hpp"
#include "gateway_tail/record_payload.hpp"

#include "core/bytes.hpp"
#include "core/endian.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <sstream>

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

bool StreamVerification::add(const StreamMessage& message) {
    is_historical_ = message.is_historical;
    if (message.format == "block") {
        return add_segment(message.payload);
    }
    if (message.format == "record") {
        return add_records(message.payload);
    }
    return message.format == "cbor" ? add_cbor(message.payload) : add_lines(message.payload);
}

bool StreamVerification::add_lines(std::string_view payload) {
    bool is_read = !payload.empty();
    while (!payload.empty()) {
        const std::size_t end = std::min(payload.find('\n'), payload.size());
        is_read = add_line(payload.substr(0, end)) && is_read;
        payload.remove_prefix(std::min(end + 1, payload.size()));
    }
    return is_read;
}

bool StreamVerification::add_line(std::string_view line) {
    tail::ScannedSample scanned;
    std::string_view rest = line;
    if (!tail::scan_sample(rest, scanned) || !rest.empty()) {
        return line.size() <= tail::payload_bytes_max && add_object(LineJson::parse(line, nullptr, false));
    }
    add_sample(ledger_of(scanned.sample.epoch, scanned.device, scanned.channel), scanned.sample.seq);
    return true;
}

/// Reads objects in a row.
bool StreamVerification::add_cbor(std::string_view payload) {
    std::istringstream in{std::string(payload)};
    bool is_read = !payload.empty();
    while (is_read && in.peek() != std::istringstream::traits_type::eof()) {
        is_read = add_object(LineJson::from_cbor(in, false, false));
    }
    return is_read;
}

bool StreamVerification::add_object(const LineJson& object) {
    const auto device = member_of(object, "device", std::string());
    const auto channel = member_of(object, "channel", std::string());
    const auto epoch_ms = member_of(object, "epoch", std::int64_t{0});
    if (device.empty() || channel.empty() || epoch_ms <= 0) {
        return false;
    }
    Ledger* const ledger = ledger_of(epoch_ms, device, channel);
    if (const auto seq = member_of(object, "seq", std::uint64_t{0}); seq > 0 && seq <= tail::seq_max) {
        add_sample(ledger, seq);
        return true;
    }
    const auto reason = parse_gap_reason(member_of(object, "reason", std::string()));
    return reason && add_gap(ledger, {ChannelId{}, member_of(object, "first_seq", std::uint64_t{0}),
                                      member_of(object, "last_seq", std::uint64_t{0}), *reason});
}

void StreamVerification::add_sample(Ledger* ledger, std::uint64_t seq) {
    if (ledger != nullptr) {
        ledger->add_sample(seq, is_historical_);
    }
}

bool StreamVerification::add_gap(Ledger* ledger, const store::LogGap& gap) {
    if (gap.first_seq == 0 || gap.first_seq > gap.last_seq || gap.last_seq > tail::seq_max) {
        return false;
    }
    if (ledger != nullptr) {
        ledger->add_gap(gap.first_seq, gap.last_seq, gap.reason);
    }
    return true;
}

/// Reads a table of topics, and samples and notices of 64 bytes each.
bool StreamVerification::add_records(std::string_view payload) {
    constexpr std::size_t head_bytes = 2 * sizeof(std::uint32_t);
    if (payload.size() < head_bytes) {
        return false;
    }
    const auto count = load_little_endian<std::uint32_t>(payload.data());
    const auto table_bytes = load_little_endian<std::uint32_t>(payload.data() + sizeof count);
    payload.remove_prefix(head_bytes);
    if (table_bytes > payload.size() || (payload.size() - table_bytes) % tail::record_bytes != 0) {
        return false;
    }
    std::string_view table = payload.substr(0, table_bytes);
    std::vector<std::string_view> topics;
    for (std::size_t end = table.find('\n'); topics.size() < count; end = table.find('\n')) {
        if (end == std::string_view::npos) {
            return false;
        }
        topics.push_back(table.substr(0, end));
        table.remove_prefix(end + 1);
    }
    payload.remove_prefix(table_bytes);
    bool is_read = !payload.empty();
    for (; !payload.empty(); payload.remove_prefix(tail::record_bytes)) {
        is_read = add_record(payload.substr(0, tail::record_bytes), topics) && is_read;
    }
    return is_read;
}

bool StreamVerification::add_record(std::string_view record, const std::vector<std::string_view>& topics) {
    constexpr std::size_t topic_at = 28;
    const auto index = load_little_endian<std::uint32_t>(record.data() + topic_at);
    const std::string_view topic = index < topics.size() ? topics[index] : std::string_view();
    const std::size_t slash = topic.find('/');
    if (slash == std::string_view::npos) {
        return false;
    }
    const std::string_view device = topic.substr(0, slash);
    const std::string_view channel = topic.substr(slash + 1);
    if (tail::are_sample_records(record)) {
        tail::Sample sample;
        tail::read_record(record, sample);
        add_sample(ledger_of(sample.epoch, device, channel), sample.seq);
        return true;
    }
    const auto notice = read_notice(PayloadFormat::record, NoticeKind::gap, record);
    if (!notice) {
        return false;
    }
    Ledger* const ledger = ledger_of(notice->epoch_ms, device, channel);
    const auto reason = parse_gap_reason(notice->reason);
    return reason && add_gap(ledger, {ChannelId{}, notice->seqs.first, notice->seqs.last, *reason});
}

/// Reads a segment of the log: a head, definitions of channels, and a block.
bool StreamVerification::add_segment(std::string_view payload) {
    Bytes rest = as_bytes(payload);
    const auto segment = store::read_segment_head(rest.first(std::min(rest.size(), store::SegmentHead::bytes)));
    if (!segment) {
        return false;
    }
    rest = rest.subspan(store::SegmentHead::bytes);
    std::vector<store::SegmentChannel> definitions;
    bool has_block = false;
    while (!rest.empty()) {
        const auto record =
            store::read_record_head(rest.first(std::min(rest.size(), store::RecordHead::bytes)), segment->log_id);
        if (!record || record->record_bytes() > rest.size() || record->head_bytes < store::RecordHead::bytes ||
            !store::check_record_head(rest.first(record->head_bytes))) {
            return false;
        }
        const Bytes head = rest.first(record->head_bytes).subspan(store::RecordHead::bytes);
        samples_.clear();
        if (record->type == store::RecordType::channels) {
            if (!store::read_channels(head, definitions)) {
                return false;
            }
        } else if (record->type == store::RecordType::block) {
            if (!store::BlockDecoder::read_head(head, head_) ||
                !decoder_.decode(head_, rest.subspan(record->head_bytes, record->payload_bytes), samples_) ||
                !add_block(segment->epoch_ms, definitions)) {
                return false;
            }
            has_block = true;
        }
        rest = rest.subspan(static_cast<std::size_t>(record->record_bytes()));
    }
    return has_block;
}

/// Adds the samples and gaps of the block that was read.
bool StreamVerification::add_block(std::int64_t epoch_ms, const std::vector<store::SegmentChannel>& definitions) {
    std::map<ChannelId, Ledger*> ledgers;
    for (const store::SegmentChannel& channel : definitions) {
        ledgers[channel.id] = ledger_of(epoch_ms, channel.device, channel.channel);
    }
    bool is_defined = true;
    const auto ledger = [&](ChannelId channel) -> Ledger* {
        const auto found = ledgers.find(channel);
        is_defined = is_defined && found != ledgers.end();
        return found == ledgers.end() ? nullptr : found->second;
    };
    store::for_entries(
        samples_, head_.gaps,
        [&](const store::BlockGap& each) { is_defined = add_gap(ledger(each.gap.channel), each.gap) && is_defined; },
        [&](const TelemetrySample& sample) { add_sample(ledger(sample.channel), sample.seq); });
    return is_defined;
}

StreamVerification::Ledger* StreamVerification::ledger_of(std::int64_t epoch_ms, std::string_view device,
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
    if (Ledger* const ledger = ledger_of(epoch_ms, topic.substr(0, slash), topic.substr(slash + 1))) {
        ledger->expect(last_seq);
    }
}

log_tool::VerificationTotals StreamVerification::totals() const {
    log_tool::VerificationTotals totals;
    for (const auto& [epoch_ms, epoch] : epochs_) {
        totals.add(epoch);
    }
    return totals;
}

}  // namespace telegate::verify_tool
