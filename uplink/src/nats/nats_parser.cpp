#include "nats/nats_parser.hpp"

#include "core/text.hpp"

#include <algorithm>
#include <array>
#include <span>

namespace telegate::uplink {
namespace {

using Kind = NatsOperation::Kind;

constexpr std::string_view line_end_text = "\r\n";
constexpr std::size_t words_max = 6;  // HMSG SUBJECT SID REPLY HEAD_BYTES BYTES

struct Words {
    std::array<std::string_view, words_max> words;
    std::size_t count = 0;
};

/// Splits a line at blanks; words after the last one are dropped and counted.
Words words_of(std::string_view line) {
    Words found;
    while (true) {
        line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
        if (line.empty()) {
            return found;
        }
        const std::string_view word = line.substr(0, line.find(' '));
        if (found.count < words_max) {
            found.words[found.count] = word;
        }
        ++found.count;
        line.remove_prefix(word.size());
    }
}

/// Returns the operation of a line without a message; nullopt if it is not known.
std::optional<NatsOperation> line_operation(std::string_view line) {
    constexpr std::string_view info = "INFO ";
    constexpr std::string_view error = "-ERR";
    if (line == "PING") {
        return NatsOperation{Kind::ping};
    }
    if (line == "PONG") {
        return NatsOperation{Kind::pong};
    }
    if (line == "+OK") {
        return NatsOperation{Kind::ok};
    }
    if (line.starts_with(info)) {
        return NatsOperation{.kind = Kind::info, .body = line.substr(info.size())};
    }
    if (line.starts_with(error)) {
        return NatsOperation{.kind = Kind::error, .body = trimmed(line.substr(error.size()), " '")};
    }
    return std::nullopt;
}

}  // namespace

void NatsParser::add(std::string_view bytes) {
    bytes_.erase(0, at_);
    at_ = 0;
    bytes_.append(bytes);
}

void NatsParser::reset() noexcept {
    bytes_ = {};
    at_ = 0;
    fault_.clear();
}

std::optional<NatsOperation> NatsParser::next() {
    if (!fault_.empty()) {
        return std::nullopt;
    }
    const std::string_view all = std::string_view(bytes_).substr(at_);
    const std::size_t size = all.substr(0, line_bytes_max).find(line_end_text);
    if (size == std::string_view::npos) {
        if (all.size() >= line_bytes_max) {
            fault_ = "the server sent a line of more than " + std::to_string(line_bytes_max) + " bytes";
        }
        return std::nullopt;
    }
    const std::string_view line = all.substr(0, size);
    const std::size_t line_end = size + line_end_text.size();
    if (line.starts_with("MSG ") || line.starts_with("HMSG ")) {
        return message(line, line_end);
    }
    auto found = line_operation(line);
    if (found) {
        at_ += line_end;
    } else {
        fault_ = "Unexpected protocol";
    }
    return found;
}

/// Returns the message of a line, once all of it was added.
std::optional<NatsOperation> NatsParser::message(std::string_view line, std::size_t line_end) {
    const bool has_head = line.front() == 'H';
    const Words words = words_of(line);
    const std::size_t least = has_head ? 5 : 4;
    if (words.count != least && words.count != least + 1) {
        fault_ = "Unexpected protocol";
        return std::nullopt;
    }
    const auto bytes = parse_number<std::size_t>(words.words.at(words.count - 1));
    const auto head_bytes = has_head ? parse_number<std::size_t>(words.words.at(words.count - 2)) : 0;
    if (!bytes || !head_bytes || *head_bytes > *bytes) {
        fault_ = "Unexpected protocol";
        return std::nullopt;
    }
    if (*bytes > message_bytes_max) {
        fault_ = "the server sent a message of " + std::to_string(*bytes) + " bytes, and at most " +
                 std::to_string(message_bytes_max) + " are read";
        return std::nullopt;
    }
    const std::string_view rest = std::string_view(bytes_).substr(at_ + line_end);
    if (rest.size() < *bytes + line_end_text.size()) {
        return std::nullopt;
    }
    at_ += line_end + *bytes + line_end_text.size();
    return NatsOperation{.kind = Kind::message,
                         .subject = words.words[1],
                         .head = rest.substr(0, *head_bytes),
                         .body = rest.substr(*head_bytes, *bytes - *head_bytes)};
}

}  // namespace telegate::uplink
