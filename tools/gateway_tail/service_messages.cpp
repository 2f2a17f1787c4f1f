#include "service_messages.hpp"

#include <nlohmann/json.hpp>

namespace telegate::tail {
namespace {

/// Maximum number of samples in a reply.
constexpr unsigned samples_per_answer = 10'000;
constexpr unsigned entries_per_answer = 1'000;  // of a snapshot or catalog

}  // namespace

std::string to_json(const Request& request) {
    using OrderedJson = nlohmann::ordered_json;
    const bool lists_channels = request.kind == Request::Kind::snapshot || request.kind == Request::Kind::past;
    OrderedJson out;
    out["service"] = request.kind == Request::Kind::snapshot ? "snapshot"
                     : request.kind == Request::Kind::past   ? "catalog"
                                                             : "replay";
    out["id"] = request.id;
    if (request.kind != Request::Kind::holes) {
        out["prefix"] = request.prefix;
    }
    for (const TopicHole& hole : request.holes) {
        out["holes"].push_back({{"topic", hole.topic}, {"first_seq", hole.first_seq}});
        if (hole.last_seq != 0) {
            out["holes"].back()["last_seq"] = hole.last_seq;
        }
    }
    if (!request.after.empty()) {
        out["after"] = request.after;
    }
    if (request.kind == Request::Kind::snapshot && request.removed) {
        out["removed"] = true;
    }
    if (request.position) {
        out["position"] = *request.position;
    } else if (request.kind == Request::Kind::since) {
        out["since"] = request.since;
        if (request.earlier_runs) {
            out["earlier_runs"] = true;
        }
    }
    out["limit"] = lists_channels ? entries_per_answer : samples_per_answer;
    if (request.epoch != 0) {
        out["epoch"] = request.epoch;
    }
    return out.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

}  // namespace telegate::tail
