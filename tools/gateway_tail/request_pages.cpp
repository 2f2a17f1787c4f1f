#include "request_pages.hpp"

#include <utility>

namespace telegate::tail {
namespace {

constexpr std::size_t holes_per_request_max = 1'000;
constexpr std::size_t request_bytes_max = 60'000;

/// Returns false when the request is full.
bool add_holes(const TopicLines::Topic& topic, const SeqLine& line, Request& request, std::size_t& bytes) {
    return line.each_hole([&](std::uint64_t first, std::uint64_t last) {
        TopicHole hole{std::string(topic.name), first, last};
        bytes += json_bytes_max(hole);
        const bool fits = request.holes.size() < holes_per_request_max && bytes <= request_bytes_max;
        if (fits) {
            request.holes.push_back(std::move(hole));
        }
        return fits;
    });
}

}  // namespace

RequestPages::RequestPages(std::vector<std::string> prefixes, const std::string& since)
    : prefixes_(std::move(prefixes)) {
    past_.next.kind = Request::Kind::past;
    snapshot_.next.kind = Request::Kind::snapshot;
    since_.next.kind = Request::Kind::since;
    since_.next.since = since;
    since_.is_wanted = !since.empty();
    begin(since_);
}

/// Goes to the first page.
void RequestPages::begin(Pages& pages) const {
    pages.prefix_at = 0;
    pages.next.prefix = prefixes_.front();
    pages.next.after.clear();
}

/// Returns false after the last prefix; the next page is then the first one.
bool RequestPages::begin_next_prefix(Pages& pages) const {
    pages.prefix_at = (pages.prefix_at + 1) % prefixes_.size();
    pages.next.prefix = prefixes_[pages.prefix_at];
    return pages.prefix_at != 0;
}

/// Goes to the page after the one that `answer` contains. Returns false after the last page of the last prefix.
bool RequestPages::begin_next_page(Pages& pages, const Answer& answer) const {
    pages.next.after = answer.is_end ? "" : answer.after;
    return !pages.next.after.empty() || begin_next_prefix(pages);
}

void RequestPages::want_snapshot() {
    snapshot_.is_wanted = true;
    begin(snapshot_);
}

void RequestPages::want_past(std::int64_t epoch) {
    if (!past_.is_wanted) {
        past_.is_wanted = true;
        begin(past_);
        past_.next.epoch = epoch;
        past_epochs_ = 0;
    }
}

void RequestPages::restart_since() {
    begin(since_);
    since_.next.epoch = 0;
    since_.next.position.reset();
}

std::optional<Request> RequestPages::next(TopicLines& lines) const {
    if (past_.is_wanted) {
        return past_.next;
    }
    if (snapshot_.is_wanted) {
        return snapshot_.next;
    }
    if (!since_.is_wanted) {
        return hole_request(lines);
    }
    Request request = since_.next;
    if (is_whole_epoch_ && since_.prefix_at == 0 && request.position == 0U) {
        std::optional<Request> holes = hole_request(lines);  // of the epoch before
        if (holes && holes->epoch != lines.epoch()) {
            return holes;
        }
    }
    request.epoch = request.epoch != 0 ? request.epoch : lines.epoch();
    return request;
}

/// Requests holes of the oldest epoch that has any; a request covers one epoch only.
std::optional<Request> RequestPages::hole_request(TopicLines& lines) const {
    if (!lines.is_missing()) {
        return std::nullopt;
    }
    Request request;
    request.kind = Request::Kind::holes;
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
    return request.holes.empty() ? std::nullopt : std::optional(std::move(request));
}

bool RequestPages::end_snapshot_page(const Answer& answer) {
    if (begin_next_page(snapshot_, answer)) {
        return false;
    }
    snapshot_.is_wanted = false;
    has_snapshot_ = true;
    return true;
}

bool RequestPages::end_past_page(const Answer& answer, std::int64_t current_epoch) {
    if (begin_next_page(past_, answer)) {
        return false;
    }
    past_.next.epoch = answer.next_epoch;
    past_.is_wanted =
        answer.next_epoch != 0 && answer.next_epoch != current_epoch && ++past_epochs_ < splice_limits::epochs_max;
    return !past_.is_wanted;
}

bool RequestPages::end_since_page(const Answer& answer) {
    Request& next = since_.next;
    next.epoch = answer.samples_epoch;
    next.position = answer.position;
    if (!answer.is_end && answer.position) {
        return false;
    }
    if (begin_next_prefix(since_)) {
        next.epoch = is_whole_epoch_ ? next.epoch : 0;
        next.position = is_whole_epoch_ ? std::optional<std::uint64_t>(0) : std::nullopt;
        return false;
    }
    since_.is_wanted = answer.next_epoch != 0;
    next.epoch = answer.next_epoch;
    next.position = 0;
    is_whole_epoch_ = true;
    return !since_.is_wanted;
}

}  // namespace telegate::tail
