#include "request_pages.hpp"

namespace telegate::tail {
namespace {

constexpr std::size_t holes_per_request_max = 1'000;
constexpr std::size_t request_bytes_max = 60'000;

/// Returns false when the request is full.
bool add_holes(const TopicLines::Topic& topic, const SeqLine& line, Request& request, std::size_t& bytes) {
    std::vector<SeqHole> holes;
    const bool is_all = line.add_holes(holes, holes_per_request_max - request.holes.size());
    for (const SeqHole& hole : holes) {
        TopicHole each{std::string(topic.name), hole.first, hole.last};
        bytes += json_bytes_max(each);
        if (bytes > request_bytes_max) {
            return false;
        }
        request.holes.push_back(std::move(each));
    }
    return is_all;
}

}  // namespace

void RequestPages::want_snapshot() {
    is_snapshot_wanted_ = true;
    prefix_at_ = 0;
    after_.clear();
}

std::optional<Request> RequestPages::next(TopicLines& lines) const {
    Request request;
    if (is_past_wanted()) {
        request.kind = Request::Kind::past;
        request.prefix = prefixes_[past_prefix_at_];
        request.after = past_after_;
        request.epoch = past_epoch_;
        return request;
    }
    if (is_snapshot_wanted_) {
        request.kind = Request::Kind::snapshot;
        request.prefix = prefixes_[prefix_at_];
        request.after = after_;
        request.removed = knows_removed_;
        return request;
    }
    if (is_since_wanted_) {
        if (is_whole_epoch_ && since_prefix_at_ == 0 && since_position_ == 0U) {
            request = hole_request(lines);  // of the epoch before
            if (!request.holes.empty() && request.epoch != lines.epoch()) {
                return request;
            }
            request = {};
        }
        request.kind = Request::Kind::since;
        request.earlier_runs = knows_earlier_runs_;
        request.prefix = prefixes_[since_prefix_at_];
        request.epoch = since_epoch_ != 0 ? since_epoch_ : lines.epoch();
        request.position = since_position_;
        request.since = since_position_ ? "" : since_;
        return request;
    }
    request = hole_request(lines);
    return request.holes.empty() ? std::nullopt : std::optional(std::move(request));
}

/// Requests holes of the oldest epoch that has any; a request covers one epoch only.
Request RequestPages::hole_request(TopicLines& lines) const {
    Request request;
    request.kind = Request::Kind::holes;
    if (!lines.is_missing()) {
        return request;
    }
    for (const TopicLines::Topic* const topic : lines.waiting()) {
        for (const SeqLine& line : topic->lines) {
            const bool is_older =
                request.epoch == 0 || (request.epoch == lines.epoch() && line.epoch() != lines.epoch());
            if (line.is_open() && is_older) {
                request.epoch = line.epoch();
            }
        }
    }
    std::size_t bytes = 0;
    for (const TopicLines::Topic* const topic : lines.waiting()) {
        for (const SeqLine& line : topic->lines) {
            if (line.epoch() == request.epoch && line.is_open() && !add_holes(*topic, line, request, bytes)) {
                return request;
            }
        }
    }
    request.position = request.epoch == lines.epoch() ? hole_position_ : std::nullopt;
    return request;
}

bool RequestPages::end_snapshot_page(const Answer& answer) {
    if (!answer.is_end && !answer.after.empty()) {
        after_ = answer.after;
        return false;
    }
    after_.clear();
    if (++prefix_at_ < prefixes_.size()) {
        return false;
    }
    prefix_at_ = 0;
    is_snapshot_wanted_ = false;
    has_snapshot_ = true;
    return true;
}

void RequestPages::drop_past() noexcept {
    past_epoch_ = 0;
    past_epochs_ = 0;
    past_prefix_at_ = 0;
    past_after_.clear();
}

bool RequestPages::end_past_page(const Answer& answer, std::int64_t current_epoch) {
    past_after_ = answer.is_end ? "" : answer.after;
    if (!past_after_.empty() || ++past_prefix_at_ < prefixes_.size()) {
        return false;
    }
    past_prefix_at_ = 0;
    past_epoch_ =
        answer.next_epoch == current_epoch || ++past_epochs_ == splice_limits::epochs_max ? 0 : answer.next_epoch;
    return !is_past_wanted();
}

void RequestPages::restart_since() noexcept {
    since_epoch_ = 0;
    since_prefix_at_ = 0;
    since_position_.reset();
}

bool RequestPages::end_since_page(const Answer& answer) {
    since_epoch_ = answer.samples_epoch;
    since_position_ = answer.position;
    if (!answer.is_end && answer.position) {
        return false;
    }
    if (++since_prefix_at_ < prefixes_.size()) {
        since_epoch_ = is_whole_epoch_ ? since_epoch_ : 0;
        since_position_ = is_whole_epoch_ ? std::optional<std::uint64_t>(0) : std::nullopt;
        return false;
    }
    restart_since();
    is_since_wanted_ = answer.next_epoch != 0;
    if (is_since_wanted_) {
        since_epoch_ = answer.next_epoch;
        since_position_ = 0;
        is_whole_epoch_ = true;
    }
    return !is_since_wanted_;
}

}  // namespace telegate::tail
