#include "encode/map_notices.hpp"

#include "core/assert.hpp"
#include "core/endian.hpp"
#include "encode/cbor_items.hpp"
#include "encode/digits.hpp"
#include "encode/time_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <span>
#include <system_error>

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

/// Returns the whole number after `key`. Names of devices and channels contain no quotes, so the first match is the
/// key.
std::optional<std::uint64_t> json_number(std::string_view payload, std::string_view key) {
    const std::size_t at = payload.find(key);
    if (at == std::string_view::npos) {
        return std::nullopt;
    }
    std::uint64_t number = 0;
    const char* const end = payload.data() + payload.size();
    const auto result = std::from_chars(payload.data() + at + key.size(), end, number);
    return result.ec == std::errc() ? std::optional(number) : std::nullopt;
}

/// Reads items from the start of a map: texts, whole numbers, and items that consist of a head only.
class CborItems {
  public:
    explicit CborItems(std::string_view bytes) noexcept : bytes_(bytes) {}

    struct Item {
        unsigned major = 0;
        std::uint64_t number = 0;
        std::string_view text;
    };
    std::optional<Item> next() noexcept {
        if (bytes_.empty()) {
            return std::nullopt;
        }
        const unsigned head = static_cast<unsigned char>(bytes_.front());
        Item item{head >> 5U, head & 0x1FU, {}};
        bytes_.remove_prefix(1);
        if (item.number >= 24 && item.number <= 27) {
            const std::size_t size = std::size_t{1} << (item.number - 24);
            if (bytes_.size() < size) {
                return std::nullopt;
            }
            item.number = load_big_endian(bytes_.substr(0, size));
            bytes_.remove_prefix(size);
        }
        if (item.major == 2 || item.major == 3) {
            item.text = bytes_.substr(0, item.number);
            bytes_.remove_prefix(item.text.size());
        }
        return item;
    }

  private:
    std::string_view bytes_;
};

}  // namespace

void JsonNotices::append(const NoticeContext& context, const GapNotice& notice, std::string& out) {
    append_json(context, notice, out);
}

void JsonNotices::append(const NoticeContext& context, const BeatNotice& notice, std::string& out) {
    append_json(context, notice, out);
}

std::optional<SeqRange> JsonNotices::read_seqs(std::string_view payload, bool is_gap) {
    const auto first = json_number(payload, is_gap ? "\"first_seq\":" : "\"seq\":");
    const auto last = is_gap ? json_number(payload, "\"last_seq\":") : first;
    return first && last ? std::optional(SeqRange{*first, *last}) : std::nullopt;
}

void CborNotices::append(const NoticeContext& context, const GapNotice& notice, std::string& out) {
    append_cbor(context, notice, out);
}

void CborNotices::append(const NoticeContext& context, const BeatNotice& notice, std::string& out) {
    append_cbor(context, notice, out);
}

std::optional<SeqRange> CborNotices::read_seqs(std::string_view payload, bool is_gap) {
    CborItems items(payload);
    const auto map = items.next();
    if (!map || map->major != 5) {
        return std::nullopt;
    }
    std::optional<std::uint64_t> first;
    for (std::uint64_t left = map->number; left > 0; --left) {
        const auto key = items.next();
        const auto value = items.next();
        if (!key || !value) {
            return std::nullopt;
        }
        if (key->text == (is_gap ? "first_seq" : "seq")) {
            first = value->number;
        }
        if (first && (!is_gap || key->text == "last_seq")) {
            return SeqRange{*first, value->number};
        }
    }
    return std::nullopt;
}

}  // namespace telegate
