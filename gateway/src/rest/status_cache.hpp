#pragma once

#include "core/clock.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace telegate {

/// Caches the rendered status for a short time, so many requests cost little more than one. A client that changes
/// something sees its change: drop() is called between the change and its response, and get() reads the generation
/// before it renders.
///
/// Threads: any; one renders a status at a time, the others wait for it.
/// Limits: one text, for any number of requests; texts that are being sent exist until then.
/// Failure: as the render function; exceptions and nullptr are not cached.
class StatusCache {
  public:
    using Text = std::shared_ptr<const std::string>;
    /// The rendered status; nullptr: unavailable.
    using Render = std::function<Text()>;

    /// A hundred renderings a second are more than any page shows, and cost a few percent of a processor.
    static constexpr std::chrono::milliseconds age_max{10};

    explicit StatusCache(Render render) : render_(std::move(render)) {}

    /// Returns a status that is at most age_max old and was rendered after the last drop().
    [[nodiscard]] Text get(MonoTime now) {
        const std::lock_guard lock(mutex_);
        const std::uint64_t generation = generation_;
        if (text_ == nullptr || made_in_ != generation || now - made_at_ >= age_max) {
            text_ = nullptr;
            text_ = render_();
            made_at_ = now;
            made_in_ = generation;
        }
        return text_;
    }
    void drop() noexcept { ++generation_; }

  private:
    const Render render_;
    std::atomic<std::uint64_t> generation_{0};
    std::mutex mutex_;  // guards the members below
    Text text_;
    MonoTime made_at_{};
    std::uint64_t made_in_ = 0;  // the generation in which it was started
};

}  // namespace telegate
