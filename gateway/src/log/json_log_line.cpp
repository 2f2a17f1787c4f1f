#include "log/json_log_line.hpp"

#include <nlohmann/json.hpp>

#include <limits.h>
#include <algorithm>
#include <cstddef>
#include <utility>

namespace telegate {
namespace {

using Json = nlohmann::ordered_json;

/// Escaped, each byte becomes six at most, and the rest of the line needs some room.
constexpr std::size_t cut_bytes = (PIPE_BUF - 256) / 6;

bool is_key(std::string_view text) {
    return !text.empty() && text.front() >= 'a' && text.front() <= 'z' &&
           std::all_of(text.begin(), text.end(),
                       [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; });
}

/// Whether a JSON reader takes it for the same number.
bool is_whole_number(std::string_view text) {
    constexpr std::size_t digits_max = 15;
    text.remove_prefix(text.starts_with('-') ? 1 : 0);
    return !text.empty() && text.size() <= digits_max && (text.front() != '0' || text.size() == 1) &&
           std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

Json to_value(std::string_view text) {
    if (text == "true" || text == "false") {
        return text == "true";
    }
    return is_whole_number(text) ? Json(std::stoll(std::string(text))) : Json(text);
}

/// Where the quote is that closes a value which goes on at `from`; one after a backslash does not.
std::size_t find_closing(std::string_view text, std::size_t from) {
    while (from < text.size() && text[from] != '"') {
        from += text[from] == '\\' ? 2U : 1U;
    }
    return from < text.size() ? from : std::string_view::npos;
}

/// What log_quoted() has put between its quotes.
std::string without_escapes(std::string_view value) {
    std::string text;
    for (std::size_t at = 0; at < value.size(); ++at) {
        if (value[at] != '\\' || at + 1 == value.size()) {
            text += value[at];
            continue;
        }
        ++at;
        text += value[at] == '"' ? "\"" : std::string(value.substr(at - 1, 2));
    }
    return text;
}

/// The text up to the next space, or up to the closing quote of a value in quotes.
std::string_view take_word(std::string_view& text) {
    const std::size_t opening = text.find("=\"");
    std::size_t end = text.find(' ');
    if (opening < end && is_key(text.substr(0, opening))) {
        const std::size_t closing = find_closing(text, opening + 2);
        end = closing == std::string_view::npos ? closing : text.find(' ', closing);
    }
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    return word;
}

void add(Json& line, std::string key, Json value) {
    if (key == "time" || key == "level" || key == "message") {
        key += '_';
    }
    if (!line.contains(key)) {
        line[key] = std::move(value);
    } else if (line[key].is_array()) {
        line[key].push_back(std::move(value));
    } else {
        line[key] = Json::array({std::move(line[key]), std::move(value)});
    }
}

void add_text(Json& line, std::string_view text) {
    std::string message;
    Json members = Json::object();
    while (!text.empty()) {
        const std::string_view word = take_word(text);
        const std::size_t equals = word.find('=');
        if (equals == std::string_view::npos || !is_key(word.substr(0, equals))) {
            message += (message.empty() ? "" : " ") + std::string(word);
            continue;
        }
        std::string_view value = word.substr(equals + 1);
        if (value.size() >= 2 && value.front() == '"' && value.back() == '"') {
            add(members, std::string(word.substr(0, equals)), without_escapes(value.substr(1, value.size() - 2)));
        } else {
            add(members, std::string(word.substr(0, equals)), to_value(value));
        }
    }
    line["message"] = std::move(message);
    line.update(members);
}

}  // namespace

std::string json_log_line(std::string_view time, std::string_view level, std::string_view text) {
    const auto render = [&](std::string_view shown) {
        Json line{{"time", time}, {"level", level}};
        add_text(line, shown);
        if (shown.size() < text.size()) {
            line["cut"] = true;
        }
        return line.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
    };
    std::string whole = render(text);
    return whole.size() <= PIPE_BUF - std::string_view("<6>").size() ? whole : render(text.substr(0, cut_bytes));
}

}  // namespace telegate
