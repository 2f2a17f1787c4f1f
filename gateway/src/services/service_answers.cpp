#include "services/service_answers.hpp"

#include "base/json_excerpt.hpp"
#include "encode/time_text.hpp"
#include "services/hole_replay.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace telegate {

ServiceAnswers::ServiceAnswers(AnswerParts parts, std::function<void()> wake, ServiceCounts& counts)
    : parts_(parts),
      epoch_ms_(parts_.text.epoch_ms()),
      topics_(parts_.channels),
      wake_(std::move(wake)),
      counts_(counts) {}

Answered ServiceAnswers::answer(const PendingRequest& asked, const Requester& requester) {
    if (!asked.fault.empty()) {
        return fail(ServiceFault{.head = {}, .error = ServiceError::bad_request, .detail = asked.fault});
    }
    const auto read = read_service_request(asked.body);
    if (const auto* const fault = std::get_if<ServiceFault>(&read)) {
        return fail(*fault);
    }
    const auto& request = std::get<ServiceRequest>(read);
    if (!requester.status) {  // otherwise the request was counted before
        ++counts_.requests[static_cast<std::size_t>(request.kind)];
    }
    if (request.kind != ServiceKind::ping && requester.is_room_short) {
        return fail(request, ServiceError::busy, "too many replies of all peers are waiting to be read");
    }
    switch (request.kind) {
        case ServiceKind::ping: return ping(request);
        case ServiceKind::catalog: return catalog(request);
        case ServiceKind::snapshot: return snapshot(request);
        case ServiceKind::replay: return replay(request, requester);
        case ServiceKind::status: break;
    }
    return status(request, requester);
}

/// Returns the beginning of every reply: `{"service":"ping","id":1,"epoch":1795217494123`.
std::string ServiceAnswers::begin(const ServiceHead& head) const {
    std::string out = "{\"service\":" + (head.service_json.empty() ? "null" : head.service_json);
    if (!head.id_json.empty()) {
        out += ",\"id\":" + head.id_json;
    }
    return out + ",\"epoch\":" + std::to_string(epoch_ms_);
}

std::string ServiceAnswers::fail(const ServiceFault& fault) {
    ++counts_.errors[static_cast<std::size_t>(fault.error)];
    std::string out = begin(fault.head) + ",\"error\":{\"code\":\"" + std::string(to_string(fault.error)) +
                      "\",\"detail\":" + json_text(fault.detail);
    if (!fault.pointer.empty()) {
        out += ",\"pointer\":" + json_text(fault.pointer);
    }
    if (fault.error == ServiceError::busy) {
        out += ",\"retry_after_ms\":" + std::to_string(retry_after.count());
    }
    return out + "}}";
}

std::string ServiceAnswers::fail(const ServiceRequest& request, ServiceError error, std::string detail) {
    return fail(ServiceFault{.head = request.head, .error = error, .detail = std::move(detail)});
}

std::string ServiceAnswers::ping(const ServiceRequest& request) const {
    return begin(request.head) + ",\"time\":\"" + to_iso8601(clock_.utc_now_ns()) +
           "\",\"position\":" + std::to_string(parts_.history.position()) + '}';
}

/// Returns the last sequence number of the samples that are published or dropped; samples in the queue are not
/// included.
std::uint64_t ServiceAnswers::last_captured(ChannelId channel) const {
    return std::max(parts_.pump.last_seq(channel), parts_.ledger.drops_of(channel).last_seq);
}

std::string ServiceAnswers::catalog(const ServiceRequest& request) {
    if (request.epoch && *request.epoch != epoch_ms_) {
        return past_catalog(request);
    }
    const std::span<const ChannelId> page = topics_.page(request.prefix, request.after);
    const SharedLabels labels = parts_.text.labels();
    std::string out =
        begin(request.head) + ",\"gateway\":" + json_text(labels->gateway()) + json_tags_member(labels->gateway_tags());
    if (const std::int64_t oldest = parts_.log == nullptr ? 0 : parts_.log->oldest_utc_ns(); oldest != 0) {
        out += ",\"oldest_time\":\"" + to_iso8601(oldest) + '"';
    }
    out += ",\"channels\":[";
    std::size_t entries = 0;
    std::size_t looked_at = 0;
    for (; looked_at < page.size() && entries < std::min(request.limit, page_entries_max); ++looked_at) {
        const ChannelId id = page[looked_at];
        if (!request.removed && !parts_.channels.is_current(id)) {
            continue;
        }
        const ChannelInfo& info = parts_.channels.at(id);
        const Tags& tags = labels->tags(info.device, info.channel);
        out += entries++ > 0 ? ",{\"topic\":\"" : "{\"topic\":\"";
        out += info.topic + "\",\"device\":\"" + info.device + "\",\"channel\":\"" + info.channel +
               "\",\"unit\":" + json_text(info.unit) + (tags == labels->gateway_tags() ? "" : json_tags_member(tags)) +
               ",\"last_seq\":" + std::to_string(last_captured(id)) + '}';
    }
    return out + ']' + end_of(page, looked_at);
}

/// Replies with the channels of an earlier epoch and their last sequence numbers, from the state file.
std::string ServiceAnswers::past_catalog(const ServiceRequest& request) {
    const PastEpoch* const past = parts_.past.find(*request.epoch);
    if (past == nullptr) {
        return unknown_epoch(
            request, parts_.past.is_kept() ? " is unknown or too old" : " is unknown: this gateway has no state_file");
    }
    std::string out = begin(request.head) + ",\"channels\":[";
    const auto& seqs = past->last_seqs;
    auto next = request.after < request.prefix ? seqs.lower_bound(request.prefix) : seqs.upper_bound(request.after);
    const auto is_left = [&] {
        return next != seqs.end() && next->first.starts_with(request.prefix);
    };
    std::string after;
    for (std::size_t entries = 0; is_left() && entries < std::min(request.limit, page_entries_max); ++entries, ++next) {
        after = next->first;
        const std::size_t slash = after.find('/');
        out += entries > 0 ? ",{\"topic\":\"" : "{\"topic\":\"";
        out += after + "\",\"device\":\"" + after.substr(0, slash) + "\",\"channel\":\"" + after.substr(slash + 1) +
               "\",\"last_seq\":" + std::to_string(next->second) + '}';
    }
    out += "],\"next_epoch\":" + std::to_string(parts_.past.after(*request.epoch)) +
           (past->has_ended ? "" : ",\"end_known\":false");
    return out + (is_left() ? ",\"after\":\"" + after + "\",\"end\":false}" : ",\"end\":true}");
}

/// Returns where the next page begins, if there is one.
std::string ServiceAnswers::end_of(std::span<const ChannelId> page, std::size_t looked_at) const {
    if (looked_at == page.size()) {
        return ",\"end\":true}";
    }
    return ",\"after\":\"" + parts_.channels.at(page[looked_at - 1]).topic + "\",\"end\":false}";
}

std::string ServiceAnswers::snapshot(const ServiceRequest& request) {
    const std::span<const ChannelId> page = topics_.page(request.prefix, request.after);
    std::string out =
        begin(request.head) + ",\"position\":" + std::to_string(parts_.history.position()) + ",\"samples\":[";
    std::string gone;
    std::size_t samples = 0;
    std::size_t entries = 0;
    std::size_t looked_at = 0;
    for (; looked_at < page.size() && entries < std::min(request.limit, page_entries_max); ++looked_at) {
        const ChannelId id = page[looked_at];
        const std::uint64_t reached = parts_.pump.reached(id);
        if (reached == 0 || (!request.removed && !parts_.channels.is_current(id))) {
            continue;
        }
        ++entries;
        const TelemetrySample* const last = parts_.pump.last_ever(id);
        if (last != nullptr) {
            out += samples++ > 0 ? "," : "";
            parts_.text.append(out, *last);
        }
        if (const std::uint64_t last_seq = last == nullptr ? 0 : last->seq; last_seq < reached) {
            add_gone(gone, parts_.channels.at(id).topic, {"", last_seq + 1, reached}, "dropped");
        }
    }
    return out + "],\"gone\":[" + gone + ']' + end_of(page, looked_at);
}

Answered ServiceAnswers::status(const ServiceRequest& request, const Requester& requester) {
    if (!requester.status) {
        return NeedsStatus();
    }
    const StatusText& text = *requester.status;
    if (text == nullptr) {
        return fail(request, ServiceError::busy, "the gateway did not provide its status in time");
    }
    std::string out = begin(request.head) + ",\"status\":" + *text;
    out.resize(out.size() - (out.ends_with('\n') ? 1 : 0));
    out += '}';
    if (out.size() > answer_bytes_max) {
        return fail(request, ServiceError::too_large,
                    "the status is " + std::to_string(text->size()) + " bytes: must be at most " +
                        std::to_string(answer_bytes_max) + "; use GET /status");
    }
    return out;
}

Answered ServiceAnswers::replay(const ServiceRequest& request, const Requester& requester) {
    const bool is_past = request.epoch && *request.epoch != epoch_ms_;
    if (is_past && (parts_.log == nullptr || request.since || *request.epoch > epoch_ms_)) {
        return past_holes(request);
    }
    const std::uint64_t end = parts_.history.position();
    if (!is_past && !request.holes && request.position.value_or(0) > end) {
        ServiceFault fault{.head = request.head, .error = ServiceError::bad_request};
        fault.detail = "position: " + std::to_string(*request.position) + " is invalid: must be 0 to " +
                       std::to_string(end) + ", the positions published in this epoch";
        fault.pointer = "/position";
        return fail(fault);
    }
    if (requester.replays_in_all >= replays_max || requester.replays >= replays_per_peer_max) {
        return fail(request, ServiceError::busy,
                    requester.replays_in_all >= replays_max
                        ? std::to_string(replays_max) + " replays are already active"
                        : std::to_string(replays_per_peer_max) + " replays of this peer are already active");
    }
    return request.holes ? replay_holes(request) : make_replay(request);
}

ReplayParts ServiceAnswers::replay_parts(const ServiceRequest& request) {
    return {{parts_.history, parts_.text, parts_.log}, parts_.pump, wake_, [this, request] {
                return request.earlier_runs ? fail(request, ServiceError::busy, "the log just removed these samples")
                                            : past_holes(request);
            }};
}

std::unique_ptr<HistoryReplay> ServiceAnswers::replay_holes(const ServiceRequest& request) {
    HoleReplay::Wanted wanted{*request.holes, std::min(request.position.value_or(0), parts_.history.position()),
                              request.limit};
    if (request.epoch && *request.epoch != epoch_ms_) {
        wanted.past_epoch_ms = request.epoch;
        wanted.past = parts_.past.find(*request.epoch);
    }
    return std::make_unique<HoleReplay>(replay_parts(request), begin(request.head), wanted, topics_);
}

std::unique_ptr<HistoryReplay> ServiceAnswers::make_replay(const ServiceRequest& request) {
    SampleReader::Start start{request.epoch.value_or(epoch_ms_), request.position.value_or(0)};
    if (request.since) {
        const std::chrono::nanoseconds since(request.since->ns);
        start.position = request.since->is_age ? parts_.history.first_since(clock_.mono_now() - since)
                                               : parts_.history.first_since_utc(request.since->ns);
        const bool is_before_history =
            start.position <= parts_.history.oldest() && (start.position > 0 || request.earlier_runs);
        start.finds_epoch = request.earlier_runs;
        if (is_before_history && parts_.log != nullptr) {
            start.since_utc_ns = request.since->is_age ? clock_.utc_now_ns() - since.count() : since.count();
        }
    }
    return std::make_unique<PositionReplay>(replay_parts(request), begin(request.head),
                                            PositionReplay::Wanted{request.prefix, start, request.limit});
}

/// Replies to a request about an earlier epoch of which no sample is retained: the state file contains its last
/// sequence numbers.
std::string ServiceAnswers::past_holes(const ServiceRequest& request) {
    const PastEpoch* const past = parts_.past.find(*request.epoch);
    if (!request.holes || past == nullptr || !past->has_ended) {
        std::string why = parts_.log == nullptr
                              ? " is not the current epoch; only holes can be requested from an earlier one"
                              : " is not in the log";
        if (request.since) {
            why = " is not the current epoch; since cannot be used with an earlier one";
        } else if (request.holes && past != nullptr) {
            why = " did not end cleanly, so its last samples are unknown";
        } else if (request.holes) {
            why = parts_.past.is_kept() ? " is unknown or too old" : " is unknown: this gateway has no state_file";
        }
        return unknown_epoch(request, why);
    }
    std::string gone;
    for (const ServiceHole& hole : *request.holes) {
        const auto last = past->last_seqs.find(hole.topic);
        if (last != past->last_seqs.end() && hole.first_seq <= last->second) {
            add_gone(gone, hole.topic, {"", hole.first_seq, std::min(hole.last_seq, last->second)}, "not_retained");
        }
    }
    return begin(request.head) + ",\"samples\":[],\"gone\":[" + gone +
           "],\"left\":[],\"position\":" + std::to_string(parts_.history.position()) + ",\"end\":true}";
}

std::string ServiceAnswers::unknown_epoch(const ServiceRequest& request, const std::string& why) {
    return fail(ServiceFault{.head = request.head,
                             .error = ServiceError::unknown_epoch,
                             .detail = "epoch: " + std::to_string(*request.epoch) + why,
                             .pointer = "/epoch"});
}

}  // namespace telegate
