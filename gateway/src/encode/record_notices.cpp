#include "encode/notice.hpp"

#include "core/assert.hpp"
#include "core/endian.hpp"
#include "encode/record_encoder.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace telegate {
namespace {

/// Greater than the types of samples, so that readers recognize a notice by its type.
constexpr auto gap_record = static_cast<ValueType>(16);
constexpr auto beat_record = static_cast<ValueType>(17);
constexpr std::size_t reason_offset = sizeof(std::uint64_t);  // in Record::value, after last_seq

/// Encoded as their position: 1, 2, 3...
constexpr std::array<std::string_view, 11> reasons{"queue_overflow", "shutdown", "slow",   "expired",
                                                   "log_slow",       "log_full", "crash",  "damaged",
                                                   "retention",      "unknown",  "refused"};

char reason_code(std::string_view reason) noexcept {
    for (std::size_t i = 0; i < reasons.size(); ++i) {
        if (reasons[i] == reason) {
            return static_cast<char>(i + 1);
        }
    }
    TELEGATE_ASSERT(false);  // no other reason exists
    return 0;
}

void append_record(const Record& record, std::string& out) {
    std::array<char, sizeof record> bytes;
    std::memcpy(bytes.data(), &record, bytes.size());
    out.append(bytes.data(), bytes.size());
}

}  // namespace

void RecordNotices::append(const NoticeContext& context, const GapNotice& notice, std::string& out) {
    Record record{notice.time_utc_ns, context.epoch_ms, notice.first_seq, gap_record, Quality::bad, 0, 0, 0, {}};
    store_little_endian(record.value.data(), notice.last_seq);
    record.value[reason_offset] = reason_code(notice.reason);
    append_record(record, out);
}

void RecordNotices::append(const NoticeContext& context, const BeatNotice& notice, std::string& out) {
    append_record({notice.time_utc_ns, context.epoch_ms, notice.seq, beat_record, Quality::bad, 0, 0, 0, {}}, out);
}

std::optional<NoticeFields> RecordNotices::read(NoticeKind kind, std::string_view payload) {
    Record record;
    if (payload.size() != sizeof record) {
        return std::nullopt;
    }
    std::memcpy(&record, payload.data(), sizeof record);
    if (record.type != (kind == NoticeKind::gap ? gap_record : beat_record)) {
        return std::nullopt;
    }
    NoticeFields fields{record.epoch_ms, {record.seq, record.seq}, {}};
    if (kind == NoticeKind::gap) {
        fields.seqs.last = load_little_endian<std::uint64_t>(record.value.data());
        const std::size_t reason = static_cast<unsigned char>(record.value[reason_offset]) - std::size_t{1};
        fields.reason = reason < reasons.size() ? reasons[reason] : std::string_view();
    }
    return fields;
}

}  // namespace telegate
