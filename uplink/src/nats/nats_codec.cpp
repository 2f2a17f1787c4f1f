#include "uplink/nats_codec.hpp"

#include "nats/json_fields.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>
#include <utility>

namespace telegate::uplink {
namespace {

constexpr std::string_view line_end = "\r\n";
constexpr std::string_view blanks = " \t";
constexpr std::size_t message_words_max = 5;  // HMSG has subject, id, reply, header bytes, total bytes

/// The words of a line; more than the maximum are a violation.
struct Words {
    std::array<std::string_view, message_words_max> all;
    std::size_t count = 0;
    bool is_too_long = false;
};

Words split(std::string_view line) {
    Words words;
    for (;;) {
        line.remove_prefix(std::min(line.find_first_not_of(blanks), line.size()));
        if (line.empty()) {
            return words;
        }
        if (words.count == words.all.size()) {
            words.is_too_long = true;
            return words;
        }
        const std::size_t size = std::min(line.find_first_of(blanks), line.size());
        words.all[words.count++] = line.substr(0, size);
        line.remove_prefix(size);
    }
}

std::optional<std::size_t> to_size(std::string_view text) {
    std::size_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool is_whole = error == std::errc() && end == text.data() + text.size() && !text.empty();
    return is_whole ? std::optional(number) : std::nullopt;
}

/// Removes the operation and the blanks after it. Servers may write operations in any case.
bool take_operation(std::string_view& line, std::string_view operation) {
    const bool is_this = line.size() >= operation.size() &&
                         std::equal(operation.begin(), operation.end(), line.begin(), [](char wanted, char given) {
                             return wanted == (given >= 'a' && given <= 'z' ? given - 32 : given);
                         });
    const std::string_view rest = is_this ? line.substr(operation.size()) : std::string_view();
    if (!is_this || (!rest.empty() && blanks.find(rest.front()) == std::string_view::npos)) {
        return false;
    }
    line = rest.substr(std::min(rest.find_first_not_of(blanks), rest.size()));
    return true;
}

std::string_view without_quotes(std::string_view text) {
    const bool is_quoted = text.size() >= 2 && text.front() == '\'' && text.back() == '\'';
    return is_quoted ? text.substr(1, text.size() - 2) : text;
}

void append_number(std::size_t number, std::string& out) {
    std::array<char, 20> text{};
    const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), number);
    out.append(text.data(), end);
}

}  // namespace

void NatsDecoder::feed(Bytes bytes) {
    buffer_.erase(0, used_);
    used_ = 0;
    buffer_.append(as_text(bytes));
}

NatsStatus NatsDecoder::next(NatsFrame& frame) {
    frame = {};
    const std::string_view rest = std::string_view(buffer_).substr(used_);
    const std::size_t end = rest.find(line_end);
    if (end == std::string_view::npos && rest.size() <= line_bytes_max + 1) {  // the last byte may begin the end
        return NatsStatus::need_more;
    }
    if (end > line_bytes_max) {
        return NatsStatus::violation;
    }
    std::string_view line = rest.substr(0, end);
    if (take_operation(line, "MSG")) {
        return read_message(line, false, frame);
    }
    if (take_operation(line, "HMSG")) {
        return read_message(line, true, frame);
    }
    constexpr std::array operations{std::pair("PING", NatsKind::ping), std::pair("PONG", NatsKind::pong),
                                    std::pair("+OK", NatsKind::ok), std::pair("INFO", NatsKind::info),
                                    std::pair("-ERR", NatsKind::error)};
    for (const auto& [operation, kind] : operations) {
        if (take_operation(line, operation)) {
            frame.kind = kind;
            frame.text = kind == NatsKind::error ? without_quotes(line) : line;
            used_ += end + line_end.size();
            return NatsStatus::frame_ready;
        }
    }
    return NatsStatus::violation;
}

/// `line`: what follows the operation.
NatsStatus NatsDecoder::read_message(std::string_view line, bool has_headers, NatsFrame& frame) {
    const Words words = split(line);
    const std::size_t sizes = has_headers ? 2 : 1;
    // The reply subject may be missing.
    if (words.is_too_long || words.count < 2 + sizes || words.count > 3 + sizes) {
        return NatsStatus::violation;
    }
    const auto total = to_size(words.all[words.count - 1]);
    const auto headers = has_headers ? to_size(words.all[words.count - 2]) : 0;
    if (!total || !headers || *headers > *total || *total > payload_bytes_max) {
        return NatsStatus::violation;
    }
    const auto start = static_cast<std::size_t>(line.data() + line.size() - buffer_.data()) + line_end.size();
    if (buffer_.size() - start < *total + line_end.size()) {
        return NatsStatus::need_more;
    }
    const std::string_view content = std::string_view(buffer_).substr(start, *total);
    if (std::string_view(buffer_).substr(start + *total, line_end.size()) != line_end) {
        return NatsStatus::violation;
    }
    frame.kind = NatsKind::message;
    frame.subject = words.all[0];
    frame.headers = content.substr(0, *headers);
    frame.payload = content.substr(*headers);
    used_ = start + *total + line_end.size();
    return NatsStatus::frame_ready;
}

void append_connect(const NatsCredentials& credentials, std::string_view client_name, std::string& out) {
    out += R"(CONNECT {"verbose":false,"pedantic":false,"lang":"c++","version":"1","protocol":1,)"
           R"("headers":true,"no_responders":true,"name":)";
    append_json_text(client_name, out);
    if (!credentials.user.empty()) {
        out += ",\"user\":";
        append_json_text(credentials.user, out);
        out += ",\"pass\":";
        append_json_text(credentials.password, out);
    }
    if (!credentials.token.empty()) {
        out += ",\"auth_token\":";
        append_json_text(credentials.token, out);
    }
    out += "}\r\n";
}

void append_subscribe(std::string_view subject, std::string_view id, std::string& out) {
    out += "SUB ";
    out += subject;
    out += ' ';
    out += id;
    out += line_end;
}

void append_publish(const NatsPublish& publish, std::string& out) {
    constexpr std::string_view first_line = "NATS/1.0\r\n";
    const std::size_t header_bytes = first_line.size() + publish.headers.size() + line_end.size();
    out += "HPUB ";
    out += publish.subject;
    out += ' ';
    out += publish.reply;
    out += ' ';
    append_number(header_bytes, out);
    out += ' ';
    append_number(header_bytes + publish.payload.size(), out);
    out += line_end;
    out += first_line;
    out += publish.headers;
    out += line_end;
    out += publish.payload;
    out += line_end;
}

NatsServerInfo read_server_info(std::string_view json) {
    NatsServerInfo info;
    info.version = json_text(json, "version");
    info.payload_bytes_max = json_whole(json, "max_payload").value_or(0);
    info.needs_credentials = json_is_true(json, "auth_required");
    info.needs_tls = json_is_true(json, "tls_required");
    info.has_headers = json_is_true(json, "headers");
    info.has_jetstream = json_is_true(json, "jetstream");
    return info;
}

PublishResponse read_publish_response(const NatsFrame& message) {
    constexpr std::string_view status_line = "NATS/1.0 ";
    constexpr std::string_view no_responders = "503";
    constexpr std::uint64_t too_large = 10'054;  // err_code: exceeds max_msg_size of the stream
    PublishResponse response;
    if (message.headers.starts_with(status_line)) {
        const std::string_view status = message.headers.substr(status_line.size());
        response.reason = status.starts_with(no_responders) ? "no stream has this subject, or JetStream is unavailable"
                                                            : std::string(status.substr(0, status.find('\r')));
        return response;
    }
    if (!json_value(message.payload, "error").empty()) {
        response.reason = json_text(message.payload, "description");
        response.is_permanent = json_whole(message.payload, "err_code") == too_large;
    } else if (json_whole(message.payload, "seq")) {
        response.is_stored = true;
        response.is_duplicate = json_is_true(message.payload, "duplicate");
        return response;
    }
    if (response.reason.empty()) {
        response.reason = "unknown response from the server";
    }
    return response;
}

bool is_nats_subject(std::string_view text) noexcept {
    const bool has_bad_bytes = std::any_of(text.begin(), text.end(), [](char each) {
        return static_cast<unsigned char>(each) <= 0x20 || each == '\x7F' || each == '*' || each == '>';
    });
    return !text.empty() && !has_bad_bytes && text.front() != '.' && text.back() != '.' &&
           text.find("..") == std::string_view::npos;
}

}  // namespace telegate::uplink
