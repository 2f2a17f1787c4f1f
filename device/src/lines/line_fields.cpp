#include "lines/line_fields.hpp"

#include "core/text.hpp"
#include "core/utf8.hpp"
#include "metrics/number_text.hpp"

#include <array>
#include <utility>

namespace telegate {

LineFields::LineFields() {
    fields_.reserve(fields_max);
}

void LineFields::start(std::size_t line_bytes) {
    fields_.clear();
    texts_.clear();
    texts_.reserve(line_bytes + created_bytes_max);
    text_begin_ = 0;
}

bool LineFields::add(std::string_view name, FieldValue value, std::string_view unit) {
    if (fields_.size() == fields_max) {
        return false;
    }
    fields_.push_back({name, value, unit});
    return true;
}

void LineFields::append(char byte) {
    append(std::string_view(&byte, 1));
}

void LineFields::append(std::string_view text) {
    texts_.append(text.substr(0, texts_.capacity() - texts_.size()));
}

std::string_view LineFields::take_text() {
    const std::string_view text = std::string_view(texts_).substr(text_begin_);
    text_begin_ = texts_.size();
    return text;
}

bool is_plain_text(std::string_view text) noexcept {
    for (std::size_t at = 0; at < text.size();) {
        const unsigned first = byte_at(text, at);
        const std::size_t bytes = first < 0x80 ? 1 : utf8_bytes(text.substr(at));
        if (first == 0 || bytes == 0) {
            return false;
        }
        at += bytes;
    }
    return true;
}

std::optional<FieldValue> number_of(std::string_view word) noexcept {
    if (word.empty()) {
        return FieldValue{};
    }
    const auto number = metrics::parse_number(word);
    if (!number) {
        return std::nullopt;
    }
    using Kind = metrics::TextNumber::Kind;
    switch (number->kind) {
        case Kind::whole: return FieldValue{number->whole};
        case Kind::real: return FieldValue{number->real};
        case Kind::beyond: return FieldValue{RoundedNumber{number->real}};
        case Kind::none: break;
    }
    return FieldValue{};
}

FieldValue number_or_text(std::string_view word) noexcept {
    const std::optional<FieldValue> number = number_of(word);
    return number ? *number : FieldValue{word};
}

std::optional<bool> to_boolean(std::string_view word) noexcept {
    constexpr std::array<std::pair<std::string_view, bool>, 6> words{
        {{"true", true}, {"false", false}, {"on", true}, {"off", false}, {"yes", true}, {"no", false}}};
    for (const auto& [name, value] : words) {
        if (equal_ignoring_case(word, name)) {
            return value;
        }
    }
    return std::nullopt;
}

std::string_view excerpt(std::string_view text) noexcept {
    constexpr std::size_t bytes_max = 40;  // of the 160 bytes of an error text
    return text.substr(0, whole_characters_bytes(text, bytes_max));
}

}  // namespace telegate
