#include "encode/notice_encoder.hpp"

#include "core/assert.hpp"
#include "core/topic.hpp"
#include "encode/cbor_items.hpp"
#include "encode/digits.hpp"
#include "encode/record_encoder.hpp"
#include "encode/time_text.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

namespace telegate {
namespace {

/// Behind the values of samples, so that a reader can tell a notice by its type alone.
constexpr auto gap_record = static_cast<ValueType>(16);
constexpr auto beat_record = static_cast<ValueType>(17);
constexpr std::size_t reason_offset = sizeof(std::uint64_t);  // in Record::value, behind last_seq

/// Readers know them by their place: 1, 2, 3...
constexpr std::array<std::string_view, 4> reasons{"queue_overflow", "shutdown", "slow", "expired"};

char reason_code(std::string_view reason) noexcept {
    for (std::size_t i = 0; i < reasons.size(); ++i) {
        if (reasons[i] == reason) {
            return static_cast<char>(i + 1);
        }
    }
    TELEGATE_ASSERT(false);  // no other one is told
    return 0;
}

/// A key of both formats, with a number or a text.
struct Field {
    std::string_view key;
    std::uint64_t number = 0;
    std::string_view text = {};  // names, reasons and times: nothing in them is escaped
};

/// A text in room on the stack: longer than the longest notice.
class Payload {
  public:
    void put(std::string_view text) noexcept {
        TELEGATE_ASSERT(text.size() <= room_.size() - size_);
        std::copy_n(text.data(), text.size(), room_.data() + size_);  // also of none
        size_ += text.size();
    }
    /// `write` gets where to write to, and returns where that ends.
    template <class Write>
    void put_with(Write write) noexcept {
        TELEGATE_ASSERT(room_.size() - size_ >= TimeText::copied_bytes);
        size_ = static_cast<std::size_t>(write(room_.data() + size_) - room_.data());
    }
    [[nodiscard]] std::string_view text() const noexcept { return {room_.data(), size_}; }

  private:
    std::array<char, 512> room_;
    std::size_t size_ = 0;
};

Payload json_of(std::span<const Field> fields) noexcept {
    Payload payload;
    std::string_view before = "{\"";
    for (const Field& field : fields) {
        payload.put(before);
        payload.put(field.key);
        payload.put("\":");
        if (field.text.empty()) {
            payload.put_with([&](char* out) { return put_whole(out, field.number); });
        } else {
            payload.put("\"");
            payload.put(field.text);
            payload.put("\"");
        }
        before = ",\"";
    }
    payload.put("}");
    return payload;
}

Payload cbor_of(std::span<const Field> fields) noexcept {
    Payload payload;
    const auto head = [&payload](CborMajor major, std::uint64_t number) {
        payload.put_with([&](char* out) { return put_cbor_head(out, major, number); });
    };
    head(CborMajor::map, fields.size());
    for (const Field& field : fields) {
        head(CborMajor::text, field.key.size());
        payload.put(field.key);
        head(field.text.empty() ? CborMajor::whole : CborMajor::text,
             field.text.empty() ? field.number : field.text.size());
        payload.put(field.text);
    }
    return payload;
}

void append_map(PayloadFormat format, std::span<const Field> fields, std::string& out) {
    out += (format == PayloadFormat::json ? json_of(fields) : cbor_of(fields)).text();
}

/// "2026-11-20T23:11:34.123456789Z"
std::string_view put_time(std::array<char, TimeText::copied_bytes>& room, std::int64_t utc_ns) noexcept {
    TimeText time("", "");
    return {room.data(), static_cast<std::size_t>(time.put(room.data(), utc_ns) - room.data())};
}

void append_record(const Record& record, std::string& out) {
    std::array<char, sizeof record> bytes;
    std::memcpy(bytes.data(), &record, bytes.size());
    out.append(bytes.data(), bytes.size());
}

std::string topic_of(const ChannelInfo& channel, std::string_view suffix) {
    std::string topic;
    topic.reserve(channel.topic.size() + suffix.size());
    return topic.append(channel.topic).append(suffix);
}

}  // namespace

void NoticeEncoder::append(const GapNotice& notice, std::string& out) const {
    if (format_ == PayloadFormat::record) {
        Record record{notice.time_utc_ns, epoch_ms_, notice.first_seq, gap_record, Quality::bad, 0, 0, 0, {}};
        std::memcpy(record.value.data(), &notice.last_seq, sizeof notice.last_seq);
        record.value[reason_offset] = reason_code(notice.reason);
        append_record(record, out);
        return;
    }
    const ChannelInfo& channel = channels_.at(notice.channel);
    std::array<char, TimeText::copied_bytes> room;
    const std::array<Field, 7> fields{{{"device", 0, channel.device},
                                       {"channel", 0, channel.channel},
                                       {"epoch", static_cast<std::uint64_t>(epoch_ms_)},
                                       {"first_seq", notice.first_seq},
                                       {"last_seq", notice.last_seq},
                                       {"reason", 0, notice.reason},
                                       {"time", 0, put_time(room, notice.time_utc_ns)}}};
    append_map(format_, fields, out);
}

void NoticeEncoder::append(const BeatNotice& notice, std::string& out) const {
    if (format_ == PayloadFormat::record) {
        append_record({notice.time_utc_ns, epoch_ms_, notice.seq, beat_record, Quality::bad, 0, 0, 0, {}}, out);
        return;
    }
    const ChannelInfo& channel = channels_.at(notice.channel);
    std::array<char, TimeText::copied_bytes> room;
    const std::array<Field, 5> fields{{{"device", 0, channel.device},
                                       {"channel", 0, channel.channel},
                                       {"epoch", static_cast<std::uint64_t>(epoch_ms_)},
                                       {"seq", notice.seq},
                                       {"time", 0, put_time(room, notice.time_utc_ns)}}};
    append_map(format_, fields, out);
}

std::string gap_topic(const ChannelInfo& channel) {
    return topic_of(channel, gap_suffix);
}

std::string beat_topic(const ChannelInfo& channel) {
    return topic_of(channel, beat_suffix);
}

}  // namespace telegate
