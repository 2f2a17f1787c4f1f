#include "encode/notice.hpp"

#include "core/assert.hpp"
#include "core/endian.hpp"
#include "encode/cbor_items.hpp"
#include "encode/digits.hpp"
#include "encode/time_text.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace telegate {
namespace {

/// A key with a number or a text, for JSON and CBOR.
struct Field {
    std::string_view key;
    std::uint64_t number = 0;
    std::string_view text = {};  // names, reasons and times: no character needs escaping
};

/// Text in a buffer on the stack, which is larger than the longest notice.
class Payload {
  public:
    void put(std::string_view text) noexcept {
        TELEGATE_ASSERT(text.size() <= room_.size() - size_);
        std::copy_n(text.data(), text.size(), room_.data() + size_);  // also valid for empty text
        size_ += text.size();
    }
    /// `write` receives the position to write to and returns the end of the written text.
    template <class Write>
    void put_with(Write write) noexcept {
        TELEGATE_ASSERT(room_.size() - size_ >= TimeText::copied_bytes);
        size_ = static_cast<std::size_t>(write(room_.data() + size_) - room_.data());
    }
    [[nodiscard]] std::string_view text() const noexcept { return {room_.data(), size_}; }

  private:
    std::array<char, notice_bytes_max> room_;
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

/// "2026-11-20T23:11:34.123456789Z"
std::string_view put_time(std::array<char, TimeText::copied_bytes>& room, std::int64_t utc_ns) noexcept {
    TimeText time("", "");
    return {room.data(), static_cast<std::size_t>(time.put(room.data(), utc_ns) - room.data())};
}

/// Calls `write` with the fields of the notice.
template <class Write>
void with_fields(const NoticeContext& context, const GapNotice& notice, const Write& write) {
    const ChannelInfo& channel = context.channels.at(notice.channel);
    std::array<char, TimeText::copied_bytes> room;
    write(std::array<Field, 7>{{{"device", 0, channel.device},
                                {"channel", 0, channel.channel},
                                {"epoch", static_cast<std::uint64_t>(context.epoch_ms)},
                                {"first_seq", notice.first_seq},
                                {"last_seq", notice.last_seq},
                                {"reason", 0, notice.reason},
                                {"time", 0, put_time(room, notice.time_utc_ns)}}});
}

template <class Write>
void with_fields(const NoticeContext& context, const BeatNotice& notice, const Write& write) {
    const ChannelInfo& channel = context.channels.at(notice.channel);
    std::array<char, TimeText::copied_bytes> room;
    write(std::array<Field, 5>{{{"device", 0, channel.device},
                                {"channel", 0, channel.channel},
                                {"epoch", static_cast<std::uint64_t>(context.epoch_ms)},
                                {"seq", notice.seq},
                                {"time", 0, put_time(room, notice.time_utc_ns)}}});
}

template <class Notice>
void append_json(const NoticeContext& context, const Notice& notice, std::string& out) {
    with_fields(context, notice, [&](std::span<const Field> fields) { out += json_of(fields).text(); });
}

template <class Notice>
void append_cbor(const NoticeContext& context, const Notice& notice, std::string& out) {
    with_fields(context, notice, [&](std::span<const Field> fields) { out += cbor_of(fields).text(); });
}

using Json = nlohmann::json;

std::optional<std::uint64_t> whole_at(const Json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_number_unsigned() ? std::optional(found->get<std::uint64_t>())
                                                                : std::nullopt;
}

std::optional<NoticeFields> read_notice_from(const Json& object, NoticeKind kind) {
    const bool is_gap = kind == NoticeKind::gap;
    const auto epoch = whole_at(object, "epoch");
    const auto first = whole_at(object, is_gap ? "first_seq" : "seq");
    const auto last = is_gap ? whole_at(object, "last_seq") : first;
    if (!epoch || *epoch > INT64_MAX || !first || !last) {
        return std::nullopt;
    }
    NoticeFields fields{static_cast<std::int64_t>(*epoch), {*first, *last}, {}};
    if (is_gap) {
        const auto reason = object.find("reason");
        if (reason == object.end() || !reason->is_string()) {
            return std::nullopt;
        }
        fields.reason = reason->get<std::string>();
    }
    return fields;
}

}  // namespace

void JsonNotices::append(const NoticeContext& context, const GapNotice& notice, std::string& out) {
    append_json(context, notice, out);
}

void JsonNotices::append(const NoticeContext& context, const BeatNotice& notice, std::string& out) {
    append_json(context, notice, out);
}

std::optional<NoticeFields> JsonNotices::read(NoticeKind kind, std::string_view payload) {
    return payload.size() > notice_bytes_max ? std::nullopt
                                             : read_notice_from(Json::parse(payload, nullptr, false), kind);
}

void CborNotices::append(const NoticeContext& context, const GapNotice& notice, std::string& out) {
    append_cbor(context, notice, out);
}

void CborNotices::append(const NoticeContext& context, const BeatNotice& notice, std::string& out) {
    append_cbor(context, notice, out);
}

std::optional<NoticeFields> CborNotices::read(NoticeKind kind, std::string_view payload) {
    if (payload.size() > notice_bytes_max) {  // the decoder recurses for each nested array
        return std::nullopt;
    }
    try {
        return read_notice_from(Json::from_cbor(payload, true, false, Json::cbor_tag_handler_t::ignore), kind);
    } catch (const Json::exception&) {  // thrown for a list that claims to be larger than memory
        return std::nullopt;
    }
}

}  // namespace telegate
