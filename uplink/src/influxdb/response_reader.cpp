#include "influxdb/response_reader.hpp"

#include "core/text.hpp"
#include "link/json_text.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <utility>

namespace telegate::uplink {
namespace {

namespace http = boost::beast::http;

constexpr std::uint64_t retry_after_max = 86'400;  // seconds

void check(const boost::beast::error_code& error) {
    if (error && error != http::error::need_more) {
        throw std::runtime_error("the server does not speak HTTP: " + error.message());
    }
}

template <class Text>
std::string text_of(const Text& text) {
    return {text.data(), text.size()};
}

/// Returns the first line of what a server says, without control characters.
std::string one_line(std::string text) {
    text = trimmed(text, " \t\r\n");
    std::replace_if(
        text.begin(), text.end(), [](char each) { return static_cast<unsigned char>(each) < 0x20; }, ' ');
    return text.substr(0, ResponseReader::error_bytes_max);
}

/// Returns the message in a JSON object, or the text itself.
std::string error_in(const std::string& body) {
    const nlohmann::json json = parse_json(body);
    for (const char* const key : {"error", "message"}) {
        if (const std::string text = json_string(json_member(json, key)); !text.empty()) {
            return one_line(text);
        }
    }
    return one_line(body);
}

}  // namespace

struct ResponseReader::Parser {
    http::response_parser<http::string_body> parser;
};

ResponseReader::ResponseReader() {
    reset();
}

ResponseReader::~ResponseReader() = default;

void ResponseReader::reset(bool has_body) {
    parser_ = std::make_unique<Parser>();
    parser_->parser.eager(true);
    parser_->parser.skip(!has_body);
    parser_->parser.body_limit(std::numeric_limits<std::uint64_t>::max());  // see bytes_max
    has_body_ = has_body;
    unread_.clear();
    read_bytes_ = 0;
}

std::optional<HttpResponse> ResponseReader::read(std::string_view bytes) {
    unread_ += bytes;
    read_bytes_ += bytes.size();
    for (;;) {
        boost::beast::error_code error;
        const std::size_t read = parser_->parser.put(boost::asio::buffer(unread_), error);
        check(error);
        unread_.erase(0, read);
        if (!parser_->parser.is_done()) {
            return read_bytes_ > bytes_max ? std::optional(cut_response()) : std::nullopt;
        }
        if (parser_->parser.get().result_int() >= 200) {
            break;
        }
        std::string rest = std::exchange(unread_, {});  // after a response such as 100 Continue
        reset(has_body_);
        unread_ = std::move(rest);
    }
    if (!unread_.empty() && (has_body_ || parser_->parser.get().result_int() < 300)) {
        throw std::runtime_error("the server has sent more than one response");
    }
    return response();
}

std::optional<HttpResponse> ResponseReader::end() {
    boost::beast::error_code error;
    if (!parser_->parser.got_some()) {
        return std::nullopt;
    }
    parser_->parser.put_eof(error);
    if (error || !parser_->parser.is_done()) {
        return std::nullopt;
    }
    return response();
}

/// Returns a response whose body is not read to its end.
HttpResponse ResponseReader::cut_response() {
    if (!parser_->parser.is_header_done()) {
        throw std::runtime_error("the server has sent a response of more than " + std::to_string(bytes_max) + " bytes");
    }
    HttpResponse cut = response();
    cut.keeps_open = false;
    return cut;
}

HttpResponse ResponseReader::response() {
    const auto& message = parser_->parser.get();
    const auto header = [&](http::field name) {
        return text_of(message[name]);
    };
    HttpResponse response;
    response.status = message.result_int();
    response.reason = one_line(text_of(message.reason()));
    response.error = response.status < 300 ? "" : error_in(message.body());
    response.location = one_line(header(http::field::location));
    response.retry_after = std::chrono::seconds(
        std::min(parse_number<std::uint64_t>(header(http::field::retry_after)).value_or(0), retry_after_max));
    response.keeps_open = message.keep_alive();
    reset();
    return response;
}

}  // namespace telegate::uplink
