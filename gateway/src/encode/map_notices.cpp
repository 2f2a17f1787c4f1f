#include "encode/map_notices.hpp"

#include "core/assert.hpp"
#include "core/endian.hpp"
#include "encode/cbor_items.hpp"
#include "encode/digits.hpp"
#include "encode/sample_members.hpp"
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

/// A key with its value, as read from a payload.
struct Entry {
    std::string_view key;
    std::optional<std::uint64_t> number;  // a whole number that is not negative
    std::optional<std::string_view> text;
};

/// Reads the entries of a JSON object. Texts are not unescaped, because names and reasons need no escaping. Other
/// values are skipped.
class JsonEntries {
  public:
    explicit JsonEntries(std::string_view json) noexcept : rest_(json) {}

    /// Returns nullopt at the end and at the first error.
    std::optional<Entry> next() noexcept {
        Entry entry;
        const bool reads = take(before_) && take_text(entry.key) && take(':') && take_value(entry);
        before_ = ',';
        return reads ? std::optional(entry) : std::nullopt;
    }
    /// Call after the last entry. Returns whether the object ends there.
    [[nodiscard]] bool is_complete() noexcept {
        const bool is_closed = take('}');
        skip_spaces();
        return is_closed && rest_.empty();
    }

  private:
    void skip_spaces() noexcept { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size())); }
    bool take(char expected) noexcept {
        skip_spaces();
        const bool is_next = rest_.starts_with(expected);
        rest_.remove_prefix(is_next ? 1 : 0);
        return is_next;
    }
    bool take_text(std::string_view& text) noexcept {
        if (!take('"')) {
            return false;
        }
        for (std::size_t at = 0; at < rest_.size(); at += rest_[at] == '\\' ? 2U : 1U) {
            if (rest_[at] == '"') {
                text = rest_.substr(0, at);
                rest_.remove_prefix(at + 1);
                return true;
            }
        }
        return false;
    }
    bool take_value(Entry& entry) noexcept {
        skip_spaces();
        if (rest_.starts_with('"')) {
            return take_text(entry.text.emplace());
        }
        std::uint64_t number = 0;
        const char* const end = rest_.data() + rest_.size();
        const auto read = std::from_chars(rest_.data(), end, number);
        if (read.ec != std::errc() || (read.ptr != end && std::string_view(".eE").find(*read.ptr) != rest_.npos)) {
            return skip_value();
        }
        entry.number = number;
        rest_.remove_prefix(static_cast<std::size_t>(read.ptr - rest_.data()));
        return true;
    }
    bool skip_value() noexcept {
        std::string_view text;
        for (int depth = 0; !rest_.empty();) {
            const char next = rest_.front();
            if (depth == 0 && (next == ',' || next == '}')) {
                return true;
            }
            if (next != '"') {
                depth += next == '{' || next == '[' ? 1 : 0;
                depth -= next == '}' || next == ']' ? 1 : 0;
                rest_.remove_prefix(1);
            } else if (!take_text(text)) {
                return false;
            }
        }
        return false;
    }

    std::string_view rest_;
    char before_ = '{';
};

/// The same for a CBOR map of definite length.
class CborEntries {
  public:
    explicit CborEntries(std::string_view bytes) noexcept : bytes_(bytes) {
        const auto map = item();
        left_ = map && map->major == major_map ? map->number : 0;
    }

    std::optional<Entry> next() noexcept {
        if (left_ == 0) {
            return std::nullopt;
        }
        const auto key = item();
        const auto value = item();
        if (!key || key->major != major_text || !value || !skip(items_in(*value))) {
            return std::nullopt;
        }
        --left_;
        Entry entry{key->text, std::nullopt, std::nullopt};
        if (value->major == major_whole) {
            entry.number = value->number;
        } else if (value->major == major_text) {
            entry.text = value->text;
        }
        return entry;
    }
    [[nodiscard]] bool is_complete() const noexcept { return left_ == 0 && bytes_.empty(); }

  private:
    static constexpr unsigned major_whole = 0;
    static constexpr unsigned major_bytes = 2;
    static constexpr unsigned major_text = 3;
    static constexpr unsigned major_list = 4;
    static constexpr unsigned major_map = 5;
    static constexpr unsigned major_tag = 6;

    struct Item {
        unsigned major = 0;
        std::uint64_t number = 0;  // of items in a list, of pairs in a map, of bytes
        std::string_view text;
    };
    /// Reads the head of an item, with its bytes. nullopt: the payload ends before, or the length is indefinite.
    std::optional<Item> item() noexcept {
        if (bytes_.empty()) {
            return std::nullopt;
        }
        const unsigned head = static_cast<unsigned char>(bytes_.front());
        Item item{head >> 5U, head & 0x1FU, {}};
        bytes_.remove_prefix(1);
        if (item.number >= 24) {
            const std::size_t size = std::size_t{1} << (item.number - 24);
            if (item.number > 27 || bytes_.size() < size) {
                return std::nullopt;
            }
            item.number = load_big_endian(bytes_.substr(0, size));
            bytes_.remove_prefix(size);
        }
        const bool has_bytes = item.major == major_bytes || item.major == major_text;
        const bool has_number_of_items = item.major == major_list || item.major == major_map;
        if ((has_bytes || has_number_of_items) && item.number > bytes_.size()) {
            return std::nullopt;
        }
        if (has_bytes) {
            item.text = bytes_.substr(0, item.number);
            bytes_.remove_prefix(item.text.size());
        }
        return item;
    }
    static std::uint64_t items_in(const Item& item) noexcept {
        switch (item.major) {
            case major_list: return item.number;
            case major_map: return 2 * item.number;
            case major_tag: return 1;
            default: return 0;
        }
    }
    bool skip(std::uint64_t items) noexcept {
        for (; items > 0; --items) {
            const auto skipped = item();
            if (!skipped) {
                return false;
            }
            items += items_in(*skipped);
        }
        return true;
    }

    std::string_view bytes_;
    std::uint64_t left_ = 0;
};

template <class Entries>
std::optional<NoticeFields> read_notice_from(Entries entries, NoticeKind kind) noexcept {
    const bool is_gap = kind == NoticeKind::gap;
    std::optional<std::uint64_t> epoch;
    std::optional<std::uint64_t> first;
    std::optional<std::uint64_t> last;
    std::optional<std::string_view> reason;
    while (const auto entry = entries.next()) {
        if (entry->key == "epoch") {
            epoch = entry->number;
        } else if (entry->key == (is_gap ? "first_seq" : "seq")) {
            first = entry->number;
        } else if (is_gap && entry->key == "last_seq") {
            last = entry->number;
        } else if (is_gap && entry->key == "reason") {
            reason = entry->text;
        }
    }
    if (!is_gap) {
        last = first;
        reason = std::string_view();
    }
    const bool reads = entries.is_complete() && epoch && *epoch <= INT64_MAX && first && last && reason;
    return reads ? std::optional(NoticeFields{static_cast<std::int64_t>(*epoch), {*first, *last}, *reason})
                 : std::nullopt;
}

/// Reads no further than `seq`, which the gateway writes before the value.
template <class Entries>
std::optional<SeqRange> read_seqs_from(Entries entries) noexcept {
    static_assert(sample_member::seq.name == "seq");  // comparing with a literal is faster
    while (const auto entry = entries.next()) {
        if (entry->key == "seq") {
            return entry->number ? std::optional(SeqRange{*entry->number, *entry->number}) : std::nullopt;
        }
    }
    return std::nullopt;
}

}  // namespace

void JsonNotices::append(const NoticeContext& context, const GapNotice& notice, std::string& out) {
    append_json(context, notice, out);
}

void JsonNotices::append(const NoticeContext& context, const BeatNotice& notice, std::string& out) {
    append_json(context, notice, out);
}

std::optional<NoticeFields> JsonNotices::read(NoticeKind kind, std::string_view payload) noexcept {
    return read_notice_from(JsonEntries(payload), kind);
}

std::optional<SeqRange> JsonNotices::read_seqs(std::string_view payload) noexcept {
    return read_seqs_from(JsonEntries(payload));
}

void CborNotices::append(const NoticeContext& context, const GapNotice& notice, std::string& out) {
    append_cbor(context, notice, out);
}

void CborNotices::append(const NoticeContext& context, const BeatNotice& notice, std::string& out) {
    append_cbor(context, notice, out);
}

std::optional<NoticeFields> CborNotices::read(NoticeKind kind, std::string_view payload) noexcept {
    return read_notice_from(CborEntries(payload), kind);
}

std::optional<SeqRange> CborNotices::read_seqs(std::string_view payload) noexcept {
    return read_seqs_from(CborEntries(payload));
}

}  // namespace telegate
