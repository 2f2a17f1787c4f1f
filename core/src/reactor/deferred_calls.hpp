#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace telegate {

/// A call that is made on request. Shared, so that it may be destroyed while it runs.
struct DeferredCall {
    std::function<void()> call;
    bool pending = false;
};

/// Calls that an event loop makes once each, before and after it checks its descriptors. See Later.
///
/// Threads: the reactor's.
/// Limits: each call is listed once; allocates nothing in the steady state.
/// Failure: add() may throw std::bad_alloc. An exception of a call is passed on; the remaining calls are made the next
/// time.
class DeferredCalls {
  public:
    [[nodiscard]] bool empty() const noexcept { return calls_.empty(); }
    void add(const std::shared_ptr<DeferredCall>& call) {
        if (!call->pending) {
            calls_.push_back(call);
            call->pending = true;
        }
    }
    void remove(DeferredCall& call) noexcept {
        if (!std::exchange(call.pending, false)) {
            return;
        }
        const auto found =
            std::find_if(calls_.begin(), calls_.end(), [&](const auto& added) { return added.get() == &call; });
        if (made_ == 0) {
            calls_.erase(found);
        } else {
            found->reset();  // run() is in progress
        }
    }
    /// Makes the calls that were added before; those added meanwhile are made the next time. Returns true if there were
    /// any.
    bool run() {
        const std::size_t count = calls_.size();
        bool any = false;
        const Erased erased{*this};
        while (made_ < count) {
            const std::shared_ptr<DeferredCall> next = std::move(calls_[made_++]);
            if (next != nullptr) {
                next->pending = false;
                any = true;
                next->call();
            }
        }
        return any;
    }

  private:
    /// Removes the calls that were made, even if one throws.
    struct Erased {
        DeferredCalls& deferred_calls;
        ~Erased() {
            deferred_calls.calls_.erase(
                deferred_calls.calls_.begin(),
                deferred_calls.calls_.begin() + static_cast<std::ptrdiff_t>(std::exchange(deferred_calls.made_, 0)));
        }
    };

    std::vector<std::shared_ptr<DeferredCall>> calls_;
    std::size_t made_ = 0;
};

}  // namespace telegate
