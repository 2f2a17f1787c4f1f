// What the splice asks the gateway's services, and when.
#include "splice.hpp"

#include <algorithm>
#include <utility>

namespace telegate::tail {
namespace {

using std::chrono::milliseconds;

/// An answer is waited for sixteen times as long at most.
constexpr unsigned doublings_max = 4;

milliseconds doubled(milliseconds first, unsigned times) {
    return first * (1 << std::min(times, doublings_max));
}

}  // namespace

void Splice::want_snapshot() {
    is_snapshot_wanted_ = true;
    prefix_at_ = 0;
    after_.clear();
    if (in_flight_ && in_flight_->kind == Request::Kind::snapshot) {
        in_flight_.reset();
    }
}

void Splice::held_up(Time now) {
    if (options_.recover && is_live_up_) {
        second_look_ = now + options_.patience.second_look;
    }
}

void Splice::look_last() {
    if (options_.recover) {
        last_look_ = LastLook::wanted;
        second_look_ = never;
        ask_after_ = Time::min();
        want_snapshot();
    }
}

void Splice::live_up(Time now) {
    is_live_up_ = true;
    is_live_known_ = false;
    live_up_at_ = now;
    if (options_.recover) {
        want_snapshot();
        second_look_ = now + options_.patience.second_look;
    }
}

void Splice::live_down(Time /*now*/) {
    is_live_up_ = false;
    is_live_known_ = false;
    second_look_ = never;
}

void Splice::services_up(Time /*now*/) {
    are_services_up_ = true;
    answers_missing_ = 0;
    ask_after_ = Time::min();
    if (options_.recover && !is_snapshot_wanted_) {
        want_snapshot();
    }
}

void Splice::services_down(Time now) {
    if (are_services_up_) {
        services_down_at_ = now;
    }
    are_services_up_ = false;
    in_flight_.reset();
}

void Splice::prune_waiting() {
    std::erase_if(waiting_, [](Topic* topic) {
        topic->is_waiting =
            std::any_of(topic->lines.begin(), topic->lines.end(), [](const SeqLine& line) { return line.is_open(); });
        return !topic->is_waiting;
    });
}

bool Splice::has_need() {
    prune_waiting();
    return !waiting_.empty() || baseline_ == Baseline::pending;
}

bool Splice::is_settled() {
    return !has_need() && !is_snapshot_wanted_ && !in_flight_;
}

/// A gateway that is away may come back and help; so this is for one whose publish endpoint is there.
bool Splice::is_hopeless(Time now) const {
    const Time began = std::max(needed_since_, live_up_at_);
    if (!are_services_up_ && now - std::max(began, services_down_at_) >= options_.patience.unreachable) {
        return true;
    }
    return now - std::max(began, progress_at_) >= options_.patience.silent;
}

std::optional<Request> Splice::turn(Time now) {
    if (!options_.recover) {
        return std::nullopt;
    }
    if (in_flight_ && now >= answer_due_) {
        in_flight_.reset();
        ++answers_missing_;
        ++counts_.answers_missing;
    }
    if (now >= second_look_) {
        second_look_ = never;
        if (!is_snapshot_wanted_) {
            want_snapshot();
        }
    }
    const bool needed = has_need();
    needed_since_ = !needed ? never : needed_since_ == never ? now : needed_since_;
    if (needed && is_live_up_ && is_hopeless(now)) {
        give_up(Reason::no_answer);
        needed_since_ = never;
        in_flight_.reset();
    }
    if (!are_services_up_ || !is_live_up_ || in_flight_ || now < ask_after_) {
        return std::nullopt;
    }
    in_flight_ = next_request();
    if (in_flight_) {
        in_flight_->id = ++last_id_;
        ++counts_.requests;
        answer_due_ = now + doubled(options_.patience.answer, answers_missing_);
    }
    return in_flight_;
}

Time Splice::next_turn() const {
    if (!options_.recover || !is_live_up_) {
        return never;
    }
    Time next = second_look_;
    const bool wants = is_snapshot_wanted_ || is_since_wanted_ || !waiting_.empty();
    if (in_flight_) {
        next = std::min(next, answer_due_);
    } else if (wants && are_services_up_) {
        next = std::min(next, ask_after_);
    }
    if (baseline_ == Baseline::pending || !waiting_.empty()) {
        const Time began = needed_since_ == never ? Time::min() : std::max(needed_since_, live_up_at_);
        const Time hope = are_services_up_ ? std::max(began, progress_at_) + options_.patience.silent
                                           : std::max(began, services_down_at_) + options_.patience.unreachable;
        next = std::min(next, hope);
    }
    return next;
}

std::optional<Request> Splice::next_request() {
    Request request;
    if (is_snapshot_wanted_) {
        request.kind = Request::Kind::snapshot;
        request.prefix = options_.prefixes[prefix_at_];
        request.after = after_;
        request.removed = knows_removed_;
        return request;
    }
    if (is_since_wanted_) {
        request.kind = Request::Kind::since;
        request.prefix = options_.prefixes[since_prefix_at_];
        request.epoch = epoch_;
        request.position = since_position_;
        request.since = since_position_ ? "" : options_.since;
        return request;
    }
    request = hole_request();
    return request.holes.empty() ? std::nullopt : std::optional(std::move(request));
}

/// Of the oldest epoch that has holes; one request is about one epoch.
Request Splice::hole_request() {
    Request request;
    request.kind = Request::Kind::holes;
    prune_waiting();
    for (const Topic* const topic : waiting_) {
        for (const SeqLine& line : topic->lines) {
            const bool is_older = request.epoch == 0 || (request.epoch == epoch_ && line.epoch() != epoch_);
            if (line.is_open() && is_older) {
                request.epoch = line.epoch();
            }
        }
    }
    std::size_t bytes = 0;
    for (const Topic* const topic : waiting_) {
        for (const SeqLine& line : topic->lines) {
            if (line.epoch() == request.epoch && line.is_open() && !add_holes(*topic, line, request, bytes)) {
                return request;
            }
        }
    }
    request.position = request.epoch == epoch_ ? hole_position_ : std::nullopt;
    return request;
}

/// False when the request is full.
bool Splice::add_holes(const Topic& topic, const SeqLine& line, Request& request, std::size_t& bytes) const {
    std::vector<SeqHole> holes;
    const bool is_all = line.add_holes(holes, splice_limits::holes_per_request_max - request.holes.size());
    for (const SeqHole& hole : holes) {
        TopicHole each{std::string(topic.name), hole.first, hole.last};
        bytes += json_bytes_max(each);
        if (bytes > splice_limits::request_bytes_max) {
            return false;
        }
        request.holes.push_back(std::move(each));
    }
    return is_all;
}

}  // namespace telegate::tail
