#include "requests.hpp"

#include <algorithm>
#include <utility>

namespace telegate::tail {
namespace {

using std::chrono::milliseconds;

/// Services are unreachable: after this time, missing samples are lost.
constexpr milliseconds unreachable_max{2'000};
/// Services are reachable but replies do not help: after this time, missing samples are lost.
constexpr milliseconds silent_max{10'000};
/// Initial timeout for a reply; doubles after each missing reply, up to sixteen times.
constexpr milliseconds answer_timeout{1'000};
constexpr unsigned doublings_max = 4;
/// Delay after a connection is made until a second snapshot is requested, for samples that were published before the
/// subscription took effect.
constexpr milliseconds check_delay{500};

}  // namespace

Requests::Requests(std::vector<std::string> prefixes, std::string since)
    : prefixes_(std::move(prefixes)), since_(std::move(since)) {
    if (!since_.empty()) {
        want(Kind::since);
    }
}

void Requests::live_up(Time now) noexcept {
    is_live_up_ = true;
    schedule_check(now);
}

void Requests::live_down() noexcept {
    is_live_up_ = false;
    check_at_ = lost_at_ = never;
}

void Requests::services_up() noexcept {
    are_services_up_ = true;
    unreachable_at_ = never;
    answers_missing_ = 0;
    held_until_ = Time::min();
}

void Requests::services_down(Time now) noexcept {
    if (std::exchange(are_services_up_, false)) {
        unreachable_at_ = now + unreachable_max;
    }
    in_flight_.reset();
}

void Requests::want(Kind kind, std::int64_t epoch) {
    drop(kind);
    Request page;
    page.kind = kind;
    page.epoch = epoch;
    page.since = since_;
    if (kind == Kind::since && epoch != 0) {
        page.position = 0;
        is_whole_epoch_ = true;
    }
    const auto at =
        std::find_if(pages_.begin(), pages_.end(), [kind](const Request& each) { return each.kind > kind; });
    std::vector<Request> pages(prefixes_.size(), page);
    for (std::size_t i = 0; i < pages.size(); ++i) {
        pages[i].prefix = prefixes_[i];
    }
    pages_.insert(at, pages.begin(), pages.end());
}

void Requests::want_past(std::int64_t epoch) {
    if (!wants(Kind::past)) {
        past_epochs_ = 0;
        want(Kind::past, epoch);
    }
}

void Requests::drop(Kind kind) {
    std::erase_if(pages_, [kind](const Request& page) { return page.kind == kind; });
    if (in_flight_ && in_flight_->kind == kind) {
        in_flight_.reset();
    }
}

bool Requests::wants(Kind kind) const noexcept {
    return std::any_of(pages_.begin(), pages_.end(), [kind](const Request& page) { return page.kind == kind; });
}

std::optional<Request> Requests::page() const {
    if (pages_.empty()) {
        return std::nullopt;
    }
    Request page = pages_.front();
    page.removed = knows_removed_;
    page.earlier_runs = knows_earlier_runs_;
    page.is_whole_epoch = is_whole_epoch_;
    return page;
}

bool Requests::end_page(const Request& request, const Answer& answer) {
    const Kind kind = request.kind;
    const auto page =
        std::find_if(pages_.begin(), pages_.end(), [kind](const Request& each) { return each.kind == kind; });
    if (page == pages_.end()) {
        return false;  // dropped while its reply was read
    }
    if (kind == Kind::since && !answer.is_end && answer.position) {
        page->epoch = answer.samples_epoch;
        page->position = answer.position;
        return false;
    }
    if (kind != Kind::since && !answer.is_end && !answer.after.empty()) {
        page->after = answer.after;
        return false;
    }
    pages_.erase(page);
    if (wants(kind)) {
        return false;
    }
    const bool may_follow =
        kind == Kind::since || (kind == Kind::past && answer.next_epoch != answer.epoch && ++past_epochs_ < epochs_max);
    if (may_follow && answer.next_epoch != 0) {
        want(kind, answer.next_epoch);
    }
    return !wants(kind);
}

bool Requests::leave_out(const Request& request, const std::string& pointer) {
    if (request.kind == Kind::snapshot && pointer == "/removed") {
        return std::exchange(knows_removed_, false);
    }
    return request.kind == Kind::since && pointer == "/earlier_runs" && std::exchange(knows_earlier_runs_, false);
}

void Requests::schedule_check(Time now) noexcept {
    check_at_ = is_live_up_ ? now + check_delay : never;
}

bool Requests::is_check_due(Time now) noexcept {
    const bool is_due = now >= check_at_;
    check_at_ = is_due ? never : check_at_;
    return is_due;
}

bool Requests::may_send(Time now) noexcept {
    if (in_flight_ && now >= answer_due_) {
        in_flight_.reset();
        ++answers_missing_;
    }
    return are_services_up_ && is_live_up_ && !in_flight_ && now >= held_until_;
}

const Request& Requests::begin(Request request, Time now) {
    request.id = ++last_id_;
    answer_due_ = now + answer_timeout * (1 << std::min(answers_missing_, doublings_max));
    return in_flight_.emplace(std::move(request));
}

std::optional<Request> Requests::take_answered(std::uint64_t id) {
    if (!in_flight_ || id != in_flight_->id) {
        return std::nullopt;
    }
    answers_missing_ = 0;
    return std::exchange(in_flight_, std::nullopt);
}

void Requests::record_progress(Time now) noexcept {
    lost_at_ = lost_at_ == never ? never : now + silent_max;
}

Time Requests::hope_ends() const noexcept {
    return lost_at_ == never ? never : std::min(lost_at_, unreachable_at_);
}

bool Requests::is_hopeless(bool is_missing, Time now) noexcept {
    if (!is_missing || !is_live_up_) {
        lost_at_ = never;
    } else if (lost_at_ == never) {
        lost_at_ = now + silent_max;
        unreachable_at_ = are_services_up_ ? never : now + unreachable_max;
    }
    if (now < hope_ends()) {
        return false;
    }
    lost_at_ = never;
    in_flight_.reset();
    return true;
}

Time Requests::next_turn(bool has_holes) const noexcept {
    if (!is_live_up_) {
        return never;
    }
    const bool may_ask = are_services_up_ && (has_holes || !pages_.empty());
    return std::min({check_at_, hope_ends(), in_flight_ ? answer_due_ : may_ask ? held_until_ : never});
}

}  // namespace telegate::tail
