#include "lines/line_assembler.hpp"

#include "lines/line_parser.hpp"

namespace telegate {

LineAssembler::LineAssembler(std::size_t bytes_max, const LineParser* format) : bytes_max_(bytes_max), format_(format) {
    kept_.reserve(bytes_max_);
}

std::optional<std::string_view> LineAssembler::next(std::string_view& input) noexcept {
    if (kept_is_out_) {
        clear();
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
        if (const auto line = end_line(part, false)) {
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
    return end_line({}, true);
}

void LineAssembler::restart(bool within_line) noexcept {
    clear();
    after_cr_ = false;
    state_ = within_line ? State::skipping : State::keeping;
}

/// Keeps a part of a line whose end has not arrived yet.
void LineAssembler::keep(std::string_view part) noexcept {
    if (state_ != State::keeping) {
        return;
    }
    if (part.size() > bytes_max_ - kept_.size()) {
        clear();
        state_ = State::overlong;
        return;
    }
    kept_.append(part);  // within the capacity
}

void LineAssembler::clear() noexcept {
    kept_.clear();
    kept_is_out_ = false;
    quoted_ = 0;
}

/// Returns whether the line ends between quotes.
bool LineAssembler::goes_on(std::string_view line) const noexcept {
    return format_ != nullptr && format_->ends_in_quotes(line.substr(quoted_), quoted_ > 0);
}

/// Returns the line that ends with `part`; nullopt if the line is dropped or continues.
std::optional<std::string_view> LineAssembler::end_line(std::string_view part, bool is_last) noexcept {
    if (state_ == State::keeping && part.size() <= bytes_max_ && kept_.empty() && !goes_on(part)) {
        return part;  // not copied, it views the input
    }
    keep(part);
    if (state_ == State::keeping && (is_last || !goes_on(kept_))) {
        kept_is_out_ = true;
        return kept_;
    }
    if (state_ == State::keeping) {
        keep("\n");
        quoted_ = kept_.size();
    }
    overlong_ += state_ == State::overlong ? 1 : 0;
    state_ = State::keeping;
    return std::nullopt;
}

}  // namespace telegate
