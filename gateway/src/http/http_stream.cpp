#include "http/http_stream.hpp"

#include "http/http_reply.hpp"

#include <string_view>
#include <utility>

namespace telegate {
namespace {

constexpr std::size_t pull_bytes_max = 16 * 1024;
constexpr std::string_view comment = ": keep-alive\n\n";

}  // namespace

HttpStream::HttpStream(StreamPull pull, bool chunked, HttpBudget& budget, MonoTime now)
    : pull_(std::move(pull)), chunked_(chunked), budget_(budget), speaks_at_(now + budget.limits.stream_silence) {}

HttpStream::~HttpStream() {
    budget_.give_stream();
}

bool HttpStream::fill(std::string& out, MonoTime now) {
    pulled_.clear();
    if (fresh_ && !ended_) {
        const StreamState state = pull_(pulled_, pull_bytes_max);
        fresh_ = state == StreamState::more;
        ended_ = state == StreamState::ended;
    }
    if (pulled_.empty() && !ended_ && now >= speaks_at_) {
        pulled_ = comment;
    }
    if (pulled_.empty()) {
        return false;
    }
    speaks_at_ = now + budget_.limits.stream_silence;
    if (chunked_) {
        append_chunk(out, pulled_);
    } else {
        out += pulled_;
    }
    return true;
}

void HttpStream::finish(std::string& out) {
    ended_ = true;
    out.append(chunked_ ? last_chunk : "");
}

}  // namespace telegate
