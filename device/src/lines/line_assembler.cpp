#include "lines/line_assembler.hpp"

namespace telegate {

LineAssembler::LineAssembler(std::size_t bytes_max) : bytes_max_(bytes_max) {
    kept_.reserve(bytes_max_);
}

std::optional<std::string_view> LineAssembler::next(std::string_view& input) noexcept {
    if (kept_is_out_) {
        kept_.clear();
        kept_is_out_ = false;
    }
    if (after_cr_ && !input.empty()) {
        after_cr_ = false;
        input.remove_prefix(input.front() == '\n' ? 1 : 0);
    }
    while (!input.empty()) {
        const std::size_t end = input.find_first_of("\r\n");
        const std::string_view part = input.substr(0, end);
        if (end == std::string_view::npos) {
            input = {};
            keep(part);
            return std::nullopt;
        }
        after_cr_ = input[end] == '\r';
        input.remove_prefix(end + 1);
        if (after_cr_ && !input.empty()) {
            after_cr_ = false;
            input.remove_prefix(input.front() == '\n' ? 1 : 0);
        }
        if (const auto line = end_line(part)) {
            return line;
        }
    }
    return std::nullopt;
}

std::optional<std::string_view> LineAssembler::finish() noexcept {
    if (kept_is_out_ || (state_ == State::keeping && kept_.empty())) {
        restart(false);
        return std::nullopt;
    }
    after_cr_ = false;
    return end_line({});
}

void LineAssembler::restart(bool within_line) noexcept {
    kept_.clear();
    kept_is_out_ = false;
    after_cr_ = false;
    state_ = within_line ? State::skipping : State::keeping;
}

/// Keeps a part of a line whose end has not arrived yet.
void LineAssembler::keep(std::string_view part) noexcept {
    if (state_ != State::keeping) {
        return;
    }
    if (part.size() > bytes_max_ - kept_.size()) {
        kept_.clear();
        state_ = State::overlong;
        return;
    }
    kept_.append(part);  // within the capacity
}

/// Returns the line that ends with `part`; nullopt if the line is dropped.
std::optional<std::string_view> LineAssembler::end_line(std::string_view part) noexcept {
    if (state_ == State::keeping && part.size() <= bytes_max_ && kept_.empty()) {
        return part;  // not copied, it views the input
    }
    keep(part);
    if (state_ == State::keeping) {
        kept_is_out_ = true;
        return kept_;
    }
    overlong_ += state_ == State::overlong ? 1 : 0;
    state_ = State::keeping;
    return std::nullopt;
}

}  // namespace telegate
