#include "problem_list.hpp"

#include "core/text.hpp"
#include "core/utf8.hpp"

#include <algorithm>
#include <utility>

namespace telegate {
namespace {

constexpr std::size_t printable_bytes_max = 80;

}  // namespace

std::string text_fault(std::string_view line) {
    while (!line.empty()) {
        const std::size_t bytes = utf8_bytes(line);
        if (bytes == 0) {
            std::string fault = "byte 0x";
            append_hex(fault, byte_at(line, 0));
            return fault + " is not UTF-8; must be UTF-8 text";
        }
        line.remove_prefix(bytes);
    }
    return "";
}

std::string printable(std::string_view text) {
    const std::string_view shown = text.substr(0, whole_characters_bytes(text, printable_bytes_max));
    std::string out;
    for (std::size_t at = 0; at < shown.size(); ++at) {
        const unsigned byte = byte_at(shown, at);
        if (byte < 0x20 || byte == 0x7f) {
            append_escaped(out, shown.substr(at, 1));
        } else {
            out += shown[at];
        }
    }
    return shown.size() < text.size() ? out + "..." : out;
}

std::string quoted_value(std::string_view text) {
    const char quote = text.find('"') == std::string_view::npos ? '"' : '\'';
    return quote + printable(text) + quote;
}

void ProblemList::add(SettingsPlace place, std::string_view key, std::string what) {
    add({.place = std::move(place), .key = std::string(key), .what = std::move(what)});
}

void ProblemList::add(SettingsProblem problem) {
    const bool is_known = std::any_of(problems_.begin(), problems_.end(), [&](const SettingsProblem& each) {
        return each.place == problem.place && each.key == problem.key && each.what == problem.what;
    });
    if (is_known) {
        return;  // a template line is read once per device, but it is one mistake
    }
    if (problems_.size() == problems_max) {
        ++left_out_;
        return;
    }
    problems_.push_back(std::move(problem));
}

void ProblemList::throw_if_any(const Settings& understood, std::error_code unreadable) {
    if (problems_.empty()) {
        return;
    }
    sort_problems(problems_, file_);
    if (left_out_ > 0) {
        problems_.push_back(
            {.place = {file_}, .key = "", .what = std::to_string(left_out_) + " more problems not listed"});
    }
    throw SettingsError(std::move(problems_), understood, unreadable);
}

}  // namespace telegate
