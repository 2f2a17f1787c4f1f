#include "service_messages.hpp"

#include "sample_text.hpp"

namespace telegate::tail {
namespace {

/// Maximum number of samples in a reply.
constexpr unsigned samples_per_answer = 10'000;
constexpr unsigned entries_per_answer = 1'000;  // of a snapshot or catalog

void append_hole(std::string& out, const TopicHole& hole) {
    out += out.back() == '[' ? R"({"topic":)" : R"(,{"topic":)";
    append_json_text(out, hole.topic);
    out += R"(,"first_seq":)" + std::to_string(hole.first_seq);
    if (hole.last_seq != 0) {
        out += R"(,"last_seq":)" + std::to_string(hole.last_seq);
    }
    out += '}';
}

void append_page(std::string& out, const Request& request) {
    out += R"(,"prefix":)";
    append_json_text(out, request.prefix);
    if (!request.after.empty()) {
        out += R"(,"after":)";
        append_json_text(out, request.after);
    }
    out += request.kind == Request::Kind::snapshot && request.removed ? R"(,"removed":true)" : "";
    out += R"(,"limit":)" + std::to_string(entries_per_answer);
}

void append_since(std::string& out, const Request& request) {
    out += R"(,"prefix":)";
    append_json_text(out, request.prefix);
    if (request.position) {
        out += R"(,"position":)" + std::to_string(*request.position);
    } else {
        out += R"(,"since":)";
        append_json_text(out, request.since);
        out += request.earlier_runs ? R"(,"earlier_runs":true)" : "";
    }
    out += R"(,"limit":)" + std::to_string(samples_per_answer);
}

void append_holes(std::string& out, const Request& request) {
    out += R"(,"holes":[)";
    for (const TopicHole& hole : request.holes) {
        append_hole(out, hole);
    }
    out += ']';
    if (request.position) {
        out += R"(,"position":)" + std::to_string(*request.position);
    }
    out += R"(,"limit":)" + std::to_string(samples_per_answer);
}

}  // namespace

std::string to_json(const Request& request) {
    const std::string_view service = request.kind == Request::Kind::snapshot ? "snapshot"
                                     : request.kind == Request::Kind::past   ? "catalog"
                                                                             : "replay";
    std::string out = R"({"service":")" + std::string(service) + R"(","id":)" + std::to_string(request.id);
    switch (request.kind) {
        case Request::Kind::snapshot:
        case Request::Kind::past: append_page(out, request); break;
        case Request::Kind::since: append_since(out, request); break;
        case Request::Kind::holes: append_holes(out, request); break;
    }
    if (request.epoch != 0) {
        out += R"(,"epoch":)" + std::to_string(request.epoch);
    }
    return out += '}';
}

std::size_t json_bytes_max(const TopicHole& hole) noexcept {
    constexpr std::size_t around = 90;  // keys and two numbers
    constexpr std::size_t escape_bytes_max = 6;
    return around + escape_bytes_max * hole.topic.size();
}

}  // namespace telegate::tail
