#include "http/http_budget.hpp"

#include <malloc.h>

#include <algorithm>
#include <utility>

namespace telegate {
namespace {

/// Several bodies of the largest size. Freeing less than this leaves little memory in the allocator.
constexpr std::size_t burst_bytes_min = 16 * 1024 * 1024;

}  // namespace

bool HttpBudget::reserve_response(const std::string& body) {
    const std::lock_guard lock(mutex_);
    const auto sent = std::find_if(responses_.begin(), responses_.end(),
                                   [&](const Response& response) { return response.body == &body; });
    if (sent != responses_.end()) {
        ++sent->senders;
        return true;
    }
    const std::size_t bytes = figures_.response_bytes + body.size();
    if (bytes > limits.responses_bytes_max && !responses_.empty()) {
        ++figures_.responses_refused;
        return false;
    }
    responses_.push_back({&body, 1});
    figures_.response_bytes = bytes;
    was_high_ = was_high_ || bytes >= burst_bytes_min;
    return true;
}

void HttpBudget::release_response(std::shared_ptr<const std::string> body) noexcept {
    bool is_burst_over = false;
    {
        const std::lock_guard lock(mutex_);
        const auto sent = std::find_if(responses_.begin(), responses_.end(),
                                       [&](const Response& response) { return response.body == body.get(); });
        if (--sent->senders > 0) {
            return;
        }
        responses_.erase(sent);
        figures_.response_bytes -= body->size();
        is_burst_over = was_high_ && figures_.response_bytes < burst_bytes_min / 8;
        was_high_ = was_high_ && !is_burst_over;
    }
    body.reset();
    if (is_burst_over) {
        ::malloc_trim(0);
    }
}

void HttpBudget::count_refused_request() noexcept {
    const std::lock_guard lock(mutex_);
    ++figures_.requests_refused;
}

void HttpBudget::record_crowd(std::string text) {
    const std::lock_guard lock(mutex_);
    crowd_ = std::move(text);
    crowded_at_ = std::chrono::steady_clock::now();
}

std::string HttpBudget::crowd() const {
    const std::lock_guard lock(mutex_);
    return std::chrono::steady_clock::now() - crowded_at_ < crowd_time ? crowd_ : "";
}

HttpFigures HttpBudget::figures() const {
    const std::lock_guard lock(mutex_);
    return figures_;
}

}  // namespace telegate
