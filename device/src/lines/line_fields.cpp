#include "lines/line_fields.hpp"

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

}  // namespace telegate
