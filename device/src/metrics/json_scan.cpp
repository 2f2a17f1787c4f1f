#include "metrics/json_scan.hpp"

#include "metrics/number_text.hpp"

#include <algorithm>
#include <charconv>
#include <functional>

namespace telegate::metrics {
namespace {

constexpr std::size_t hex_digits = 4;  // of \uXXXX

bool is_hex(char c) noexcept {
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/// Returns the length of the escape sequence at the start of `text`; 0 if there is none.
std::size_t escape_bytes(std::string_view text) noexcept {
    constexpr std::size_t short_form = 2;
    if (text.size() < short_form) {
        return 0;
    }
    if (text[1] != 'u') {
        return std::string_view("\"\\/bfnrt").find(text[1]) == std::string_view::npos ? 0 : short_form;
    }
    const std::string_view digits = text.substr(short_form, hex_digits);
    const bool is_whole = digits.size() == hex_digits && std::all_of(digits.begin(), digits.end(), is_hex);
    return is_whole ? short_form + hex_digits : 0;
}

/// Returns the length of the number at the start of `text`; 0 if there is none.
std::size_t number_bytes(std::string_view text) noexcept {
    if (const std::size_t bytes = not_finite_bytes(text)) {
        return bytes;
    }
    std::size_t at = text.starts_with('-') ? 1 : 0;
    const std::size_t digits = digit_count(text.substr(at));
    if (digits == 0 || (digits > 1 && text[at] == '0')) {
        return 0;
    }
    at += digits;
    if (text.substr(at).starts_with('.')) {
        const std::size_t fraction = digit_count(text.substr(at + 1));
        if (fraction == 0) {
            return 0;
        }
        at += 1 + fraction;
    }
    if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
        ++at;
        at += at < text.size() && (text[at] == '+' || text[at] == '-') ? 1U : 0U;
        const std::size_t exponent = digit_count(text.substr(at));
        if (exponent == 0) {
            return 0;
        }
        at += exponent;
    }
    return at;
}

char short_escape(char c) noexcept {
    switch (c) {
        case 'b': return '\b';
        case 'f': return '\f';
        case 'n': return '\n';
        case 'r': return '\r';
        case 't': return '\t';
        default: return c;
    }
}

constexpr std::uint32_t replacement = 0xFFFD;

bool is_high(std::uint32_t unit) noexcept {
    return unit >= 0xD800 && unit < 0xDC00;
}

bool is_low(std::uint32_t unit) noexcept {
    return unit >= 0xDC00 && unit < 0xE000;
}

std::uint32_t take_unit(std::string_view& raw) noexcept {
    constexpr int base = 16;
    constexpr std::size_t before_digits = 2;
    std::uint32_t unit = 0;
    (void)std::from_chars(raw.data() + before_digits, raw.data() + before_digits + hex_digits, unit, base);
    raw.remove_prefix(before_digits + hex_digits);
    return unit;
}

/// Takes the character of the \u escape at the start of `raw`, together with a following escape if they are a surrogate
/// pair.
std::uint32_t take_escaped_character(std::string_view& raw) noexcept {
    const std::uint32_t unit = take_unit(raw);
    if (!is_high(unit)) {
        return is_low(unit) ? replacement : unit;
    }
    std::string_view behind = raw;
    if (!behind.starts_with("\\u")) {
        return replacement;
    }
    const std::uint32_t second = take_unit(behind);
    if (!is_low(second)) {
        return replacement;
    }
    raw = behind;
    return 0x10000U + ((unit - 0xD800U) << 10U) + (second - 0xDC00U);
}

struct Utf8 {
    std::array<char, 4> bytes{};
    std::size_t size = 0;
};

Utf8 to_utf8(std::uint32_t character) noexcept {
    const auto tail = [character](unsigned shift) {
        return static_cast<char>(0x80U | ((character >> shift) & 0x3FU));
    };
    const auto head = [character](unsigned mark, unsigned shift) {
        return static_cast<char>(mark | (character >> shift));
    };
    if (character < 0x80) {
        return {{head(0, 0)}, 1};
    }
    if (character < 0x800) {
        return {{head(0xC0, 6), tail(0)}, 2};
    }
    if (character < 0x10000) {
        return {{head(0xE0, 12), tail(6), tail(0)}, 3};
    }
    return {{head(0xF0, 18), tail(12), tail(6), tail(0)}, 4};
}

/// Takes one character: a plain UTF-8 sequence or a resolved escape.
Utf8 take_character(std::string_view& raw) noexcept {
    if (raw.front() != '\\') {
        Utf8 character;
        do {
            character.bytes[character.size++] = raw.front();
            raw.remove_prefix(1);
        } while (!raw.empty() && character.size < character.bytes.size() &&
                 (static_cast<unsigned char>(raw.front()) & 0xC0U) == 0x80U);
        return character;
    }
    if (raw[1] == 'u') {
        return to_utf8(take_escaped_character(raw));
    }
    const char c = short_escape(raw[1]);
    raw.remove_prefix(2);
    return {{c}, 1};
}

/// 64-bit FNV-1a of a name, whatever its escapes, and the number of its object.
std::uint64_t member_hash(std::string_view raw, std::uint64_t object) noexcept {
    constexpr std::uint64_t basis = 14'695'981'039'346'656'037U;
    constexpr std::uint64_t prime = 1'099'511'628'211U;
    std::uint64_t hash = (basis ^ object) * prime;
    while (!raw.empty()) {
        const Utf8 character = take_character(raw);
        for (std::size_t at = 0; at < character.size; ++at) {
            hash = (hash ^ static_cast<unsigned char>(character.bytes[at])) * prime;
        }
    }
    return hash;
}

}  // namespace

JsonEvent JsonScan::next() noexcept {
    skip_space();
    switch (expects_) {
        case Expects::value: return read_value();
        case Expects::value_or_end: return closes_here() ? close() : read_value();
        case Expects::key: return read_key();
        case Expects::key_or_end: return closes_here() ? close() : read_key();
        case Expects::comma_or_end:
            if (closes_here()) {
                return close();
            }
            if (!rest_.starts_with(',')) {
                return fault();
            }
            rest_.remove_prefix(1);
            skip_space();
            return is_object_[depth_ - 1] ? read_key() : read_value();
        case Expects::nothing: return rest_.empty() ? JsonEvent::end : fault();
        case Expects::fault: break;
    }
    return JsonEvent::fault;
}

JsonEvent JsonScan::fault() noexcept {
    expects_ = Expects::fault;
    return JsonEvent::fault;
}

JsonEvent JsonScan::read_value() noexcept {
    if (rest_.empty()) {
        return fault();
    }
    switch (rest_.front()) {
        case '{': return open(true);
        case '[': return open(false);
        case '"':
            if (!read_string()) {
                return fault();
            }
            expect_after_value();
            return JsonEvent::text;
        case 't': flag_ = true; return read_word("true", JsonEvent::flag);
        case 'f': flag_ = false; return read_word("false", JsonEvent::flag);
        case 'n': return rest_.starts_with("null") ? read_word("null", JsonEvent::null) : read_number();
        default: return read_number();
    }
}

JsonEvent JsonScan::read_key() noexcept {
    if (!rest_.starts_with('"') || !read_string()) {
        return fault();
    }
    skip_space();
    if (!rest_.starts_with(':')) {
        return fault();
    }
    rest_.remove_prefix(1);
    expects_ = Expects::value;
    return JsonEvent::key;
}

JsonEvent JsonScan::read_number() noexcept {
    const std::string_view text = rest_.substr(0, number_bytes(rest_));
    const auto number = parse_number(text);
    if (!number) {
        return fault();
    }
    rest_.remove_prefix(text.size());
    expect_after_value();
    whole_ = number->whole;
    real_ = number->real;
    is_rounded_ = number->kind == TextNumber::Kind::beyond;
    switch (number->kind) {
        case TextNumber::Kind::whole: return JsonEvent::whole;
        case TextNumber::Kind::none: return JsonEvent::null;
        case TextNumber::Kind::real:
        case TextNumber::Kind::beyond: break;
    }
    return JsonEvent::real;
}

JsonEvent JsonScan::read_word(std::string_view word, JsonEvent event) noexcept {
    if (!rest_.starts_with(word)) {
        return fault();
    }
    rest_.remove_prefix(word.size());
    expect_after_value();
    return event;
}

JsonEvent JsonScan::open(bool is_object) noexcept {
    if (depth_ == depth_max) {
        return fault();
    }
    rest_.remove_prefix(1);
    is_object_[depth_++] = is_object;
    expects_ = is_object ? Expects::key_or_end : Expects::value_or_end;
    return is_object ? JsonEvent::begin_object : JsonEvent::begin_array;
}

JsonEvent JsonScan::close() noexcept {
    rest_.remove_prefix(1);
    --depth_;
    expect_after_value();
    return is_object_[depth_] ? JsonEvent::end_object : JsonEvent::end_array;
}

bool JsonScan::closes_here() const noexcept {
    return rest_.starts_with(is_object_[depth_ - 1] ? '}' : ']');
}

bool JsonScan::read_string() noexcept {
    std::size_t at = 1;
    while (at < rest_.size() && rest_[at] != '"') {
        if (static_cast<unsigned char>(rest_[at]) < 0x20) {
            return false;
        }
        const std::size_t bytes = rest_[at] == '\\' ? escape_bytes(rest_.substr(at)) : 1;
        if (bytes == 0) {
            return false;
        }
        at += bytes;
    }
    if (at >= rest_.size()) {
        return false;
    }
    raw_ = rest_.substr(1, at - 1);
    rest_.remove_prefix(at + 1);
    return true;
}

void JsonScan::skip_space() noexcept {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size()));
}

bool JsonRepeats::find(std::string_view text) {
    members_.clear();
    repeats_.clear();
    std::array<std::uint64_t, JsonScan::depth_max + 1> object_at{};  // the number of the open object, by depth
    std::uint64_t objects = 0;
    JsonScan scan(text);
    JsonEvent event = scan.next();
    for (; event != JsonEvent::end && event != JsonEvent::fault; event = scan.next()) {
        if (event == JsonEvent::begin_object) {
            object_at[scan.depth()] = ++objects;
        } else if (event == JsonEvent::key) {
            members_.push_back({member_hash(scan.raw(), object_at[scan.depth()]), scan.raw().data()});
        }
    }
    std::sort(members_.begin(), members_.end(), [](const Member& a, const Member& b) {
        return a.hash != b.hash ? a.hash < b.hash : std::less<>()(a.at, b.at);
    });
    for (std::size_t i = 1; i < members_.size(); ++i) {
        if (members_[i].hash == members_[i - 1].hash) {
            repeats_.push_back(members_[i].at);
        }
    }
    std::sort(repeats_.begin(), repeats_.end(), std::less<>());
    members_.clear();  // not copied with the intake
    return event == JsonEvent::end;
}

JsonEvent JsonRepeats::next(JsonScan& scan) const noexcept {
    JsonEvent event = scan.next();
    while (event == JsonEvent::key &&
           std::binary_search(repeats_.begin(), repeats_.end(), scan.raw().data(), std::less<>())) {
        const std::size_t depth = scan.depth();
        do {
            event = scan.next();
        } while (scan.depth() > depth);
        event = scan.next();
    }
    return event;
}

JsonText put_json_text(std::string_view raw, std::span<char> room) noexcept {
    std::size_t size = 0;
    while (!raw.empty()) {
        const Utf8 character = take_character(raw);
        if (character.size > room.size() - size) {
            return {{room.data(), size}, false};
        }
        std::copy_n(character.bytes.begin(), character.size, room.begin() + static_cast<std::ptrdiff_t>(size));
        size += character.size;
    }
    return {{room.data(), size}, true};
}

}  // namespace telegate::metrics
