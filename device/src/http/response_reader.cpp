#include "http/response_reader.hpp"

#include "core/text.hpp"
#include "metrics/number_text.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <system_error>
#include <utility>

namespace telegate::http {
namespace {

constexpr std::size_t unbounded = std::numeric_limits<std::size_t>::max();

std::string lower(std::string_view text) {
    std::string result(text);
    std::transform(result.begin(), result.end(), result.begin(), to_lower);
    return result;
}

bool is_token(std::string_view text) noexcept {
    constexpr std::string_view separators = "\"(),/:;<=>?@[\\]{}";
    return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
        return c > ' ' && c < '\x7F' && separators.find(c) == std::string_view::npos;
    });
}

/// Takes the next element of a list separated by commas.
std::string_view take_element(std::string_view& list) noexcept {
    const std::size_t comma = std::min(list.find(','), list.size());
    const std::string_view element = trimmed(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 1, list.size()));
    return element;
}

/// Converts digits; a larger number becomes `unbounded`. Returns false for other texts.
bool to_size(std::string_view digits, int base, std::size_t& size) noexcept {
    const char* const end = digits.data() + digits.size();
    const auto read = std::from_chars(digits.data(), end, size, base);
    if (read.ec == std::errc::result_out_of_range) {
        size = unbounded;
    }
    return read.ec != std::errc::invalid_argument && read.ptr == end;
}

void append_element(std::string& list, std::string_view value) {
    list += list.empty() ? "" : ", ";
    list += value;
}

}  // namespace

ResponseReader::Status ResponseReader::feed(std::string_view bytes) {
    while (status_ == Status::need_more && !bytes.empty()) {
        if (part_ == Part::sized || part_ == Part::chunk || part_ == Part::until_close) {
            status_ = read_body(bytes);
            continue;
        }
        const std::size_t end = bytes.find('\n');
        const std::string_view part = bytes.substr(0, end);
        bytes.remove_prefix(std::min(part.size() + 1, bytes.size()));
        head_bytes_ += part.size() + (end == std::string_view::npos ? 0 : 1);
        if (head_bytes_ > head_bytes_max) {
            return finish(Status::invalid);
        }
        line_ += part;
        if (end != std::string_view::npos) {
            line_.resize(line_.size() - (line_.ends_with('\r') ? 1 : 0));
            const std::string line = std::exchange(line_, {});
            const bool is_plain = line.find('\r') == std::string::npos && line.find('\0') == std::string::npos;
            status_ = is_plain ? parse_line(line) : finish(Status::invalid);
        }
    }
    if (status_ == Status::complete && !bytes.empty()) {
        keeps_alive_ = false;  // bytes that belong to no request
    }
    return status_;
}

ResponseReader::Status ResponseReader::end() noexcept {
    keeps_alive_ = false;
    if (status_ == Status::need_more) {
        return finish(part_ == Part::until_close ? Status::complete : Status::invalid);
    }
    return status_;
}

ResponseReader::Status ResponseReader::finish(Status status) noexcept {
    part_ = Part::done;
    keeps_alive_ = keeps_alive_ && status == Status::complete;
    status_ = status;
    return status;
}

ResponseReader::Status ResponseReader::parse_line(std::string_view line) {
    switch (part_) {
        case Part::start_line: return parse_start_line(line) ? Status::need_more : finish(Status::invalid);
        case Part::fields:
            if (line.empty()) {
                return parse_field() ? end_fields() : finish(Status::invalid);
            }
            return parse_field_line(line) ? Status::need_more : finish(Status::invalid);
        case Part::chunk_size: return parse_chunk_size(line);
        case Part::chunk_end:
            part_ = Part::chunk_size;
            return line.empty() ? Status::need_more : finish(Status::invalid);
        case Part::trailers: return line.empty() ? finish(Status::complete) : Status::need_more;
        case Part::sized:
        case Part::chunk:
        case Part::until_close:
        case Part::done: break;
    }
    return finish(Status::invalid);
}

/// HTTP/1.x SP code [SP reason]
bool ResponseReader::parse_start_line(std::string_view line) {
    constexpr std::string_view version = "HTTP/1.";
    constexpr std::size_t code_at = 9;
    constexpr std::size_t code_end = code_at + 3;
    if (!line.starts_with(version) || line.size() < code_end || line[code_at - 1] != ' ' ||
        !metrics::is_digit(line[version.size()]) || metrics::digit_count(line.substr(code_at)) != 3 ||
        (line.size() > code_end && line[code_end] != ' ')) {
        return false;
    }
    head_ = {};
    (void)std::from_chars(line.data() + code_at, line.data() + code_end, head_.status);
    head_.reason = trimmed(line.substr(code_end));
    keeps_alive_ = line[version.size()] != '0';
    part_ = Part::fields;
    return head_.status >= 100;
}

/// A line that begins with a blank continues the previous one. Directly after the start line, it is ignored.
bool ResponseReader::parse_field_line(std::string_view line) {
    if (line.front() != ' ' && line.front() != '\t') {
        const bool is_valid = parse_field();
        field_ = line;
        return is_valid;
    }
    if (!field_.empty()) {
        field_ += ' ';
        field_ += trimmed(line);
    }
    return true;
}

/// Uses the field that is complete, if any.
bool ResponseReader::parse_field() {
    if (field_.empty()) {
        return true;
    }
    const std::string field = std::exchange(field_, {});
    const std::size_t colon = std::min(field.find(':'), field.size());
    const std::string name = lower(trimmed(std::string_view(field).substr(0, colon)));
    if (colon == field.size() || !is_token(name)) {
        return false;
    }
    const std::string_view value = trimmed(std::string_view(field).substr(colon + 1));
    if (name == "content-length") {
        return parse_length(value);
    }
    if (name == "transfer-encoding") {
        parse_encoding(value);
    } else if (name == "connection") {
        parse_connection(value);
    } else if (name == "content-type" && head_.content_type.empty()) {
        head_.content_type = lower(value);
    } else if (name == "content-encoding") {
        append_element(head_.content_encoding, lower(value));
    }
    return true;
}

/// A list of equal lengths is one length.
bool ResponseReader::parse_length(std::string_view value) noexcept {
    do {
        std::size_t length = 0;
        if (!to_size(take_element(value), 10, length)) {
            return false;
        }
        has_two_lengths_ = has_two_lengths_ || (has_length_ && length != length_);
        has_length_ = true;
        length_ = length;
    } while (!value.empty());
    return true;
}

/// Empty elements do not count, nor does identity (RFC 2616).
void ResponseReader::parse_encoding(std::string_view list) {
    while (!list.empty()) {
        const std::string encoding = lower(take_element(list));
        if (!encoding.empty() && encoding != "identity") {
            append_element(head_.transfer_encoding, encoding);
        }
    }
}

void ResponseReader::parse_connection(std::string_view value) {
    while (!value.empty()) {
        const bool is_close = lower(take_element(value)) == "close";
        keeps_alive_ = keeps_alive_ && !is_close;
    }
}

/// Determines the length of the body (RFC 9112, section 6.3).
ResponseReader::Status ResponseReader::end_fields() {
    constexpr int switching_protocols = 101;
    constexpr int ok = 200;
    constexpr int no_content = 204;
    constexpr int not_modified = 304;
    if (head_.status < ok && head_.status != switching_protocols) {
        part_ = Part::start_line;
        has_length_ = false;
        has_two_lengths_ = false;
        length_ = 0;
        return Status::need_more;
    }
    has_head_ = true;
    if (head_.status < ok || head_.status == no_content || head_.status == not_modified) {
        return finish(Status::complete);
    }
    if (!head_.transfer_encoding.empty()) {  // overrides the length, but such a server is not trusted further
        keeps_alive_ = keeps_alive_ && !has_length_;
        is_chunked_ = head_.transfer_encoding == "chunked";
        part_ = is_chunked_ ? Part::chunk_size : Part::until_close;
        return Status::need_more;
    }
    if (has_two_lengths_) {
        return finish(Status::invalid);
    }
    keeps_alive_ = keeps_alive_ && has_length_;
    part_ = has_length_ ? Part::sized : Part::until_close;
    if (has_length_ && length_ > body_bytes_max_) {
        return finish(Status::too_long);
    }
    return has_length_ && length_ == 0 ? finish(Status::complete) : Status::need_more;
}

/// HEX [;extensions]
ResponseReader::Status ResponseReader::parse_chunk_size(std::string_view line) noexcept {
    constexpr int hexadecimal = 16;
    const std::string_view digits = trimmed(line.substr(0, line.find(';')));
    if (digits.empty() || !to_size(digits, hexadecimal, length_)) {
        return finish(Status::invalid);
    }
    if (length_ > body_bytes_max_ - body_.size()) {
        return finish(Status::too_long);
    }
    part_ = length_ == 0 ? Part::trailers : Part::chunk;
    return Status::need_more;
}

ResponseReader::Status ResponseReader::read_body(std::string_view& bytes) {
    const std::string_view taken = bytes.substr(0, part_ == Part::until_close ? bytes.size() : length_);
    bytes.remove_prefix(taken.size());
    if (taken.size() > body_bytes_max_ - body_.size()) {
        return finish(Status::too_long);
    }
    body_ += taken;
    if (part_ == Part::until_close) {
        return Status::need_more;
    }
    length_ -= taken.size();
    if (length_ > 0) {
        return Status::need_more;
    }
    if (part_ == Part::sized) {
        return finish(Status::complete);
    }
    part_ = Part::chunk_end;
    head_bytes_ = 0;  // chunks may be short; the body limits their number
    return Status::need_more;
}

}  // namespace telegate::http
