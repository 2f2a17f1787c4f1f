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

/// A status made once and shown to all who ask within a moment, so that many who ask cost little more than one. Who has
/// changed something sees it: drop() comes between the change and its answer.
///
/// Threads: any; one makes a status at a time, the others wait for it.
/// Limits:  one text, however many ask; those that are being sent live on until they have left.
/// Failure: as the render that it is given; what throws or returns nullptr is not kept.
class StatusCache {
  public:
    using Text = std::shared_ptr<const std::string>;
    /// nullptr: there is none to be had.
    using Render = std::function<Text()>;

    /// A hundred times a second is more than any page shows, and costs a few percent of a processor.
    static constexpr std::chrono::milliseconds age_max{10};

    explicit StatusCache(Render render) : render_(std::move(render)) {}

    /// At most age_max old, and made after the last drop().
    [[nodiscard]] Text get(MonoTime now);
    void drop() noexcept { ++generation_; }

  private:
    const Render render_;
    std::atomic<std::uint64_t> generation_{0};
    std::mutex mutex_;  // guards the rest
    Text text_;
    MonoTime made_at_{};
    std::uint64_t made_in_ = 0;  // the generation before it was begun
};

}  // namespace telegate
