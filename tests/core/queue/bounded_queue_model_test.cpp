// Compares random operations on a queue with a model of its rules in plain containers.
#include "core/bounded_queue.hpp"
#include "core/queue/bounded_queue_pusher.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <random>
#include <vector>

using namespace telegate;
using namespace telegate::test;

namespace {

/// The rules of the queue, item by item.
struct Model {
    std::size_t capacity;
    OverflowPolicy policy = OverflowPolicy::drop_oldest;
    bool closed = false;
    std::deque<int> held{};
    std::vector<int> lost{};
    std::vector<QueueLoss> losses{};
    std::size_t high_water = 0;

    void push(int item) {
        if (closed) {
            lose(item, QueueLoss::closed);
        } else if (held.size() < capacity) {
            held.push_back(item);
            high_water = std::max(high_water, held.size());
        } else if (policy == OverflowPolicy::drop_newest) {
            lose(item, QueueLoss::refused);
        } else {
            lose(held.front(), QueueLoss::evicted);
            held.pop_front();
            held.push_back(item);
        }
    }
    std::vector<int> pop(std::size_t count) {
        const auto end = held.begin() + static_cast<std::ptrdiff_t>(std::min(count, held.size()));
        std::vector<int> out(held.begin(), end);
        held.erase(held.begin(), end);
        return out;
    }
    [[nodiscard]] std::size_t room() const { return capacity - std::min(capacity, held.size()); }

  private:
    void lose(int item, QueueLoss loss) {
        lost.push_back(item);
        losses.push_back(loss);
    }
};

/// Applies the same random operation to the queue and to the model; every difference fails a check.
class Comparison {
  public:
    Comparison(std::uint64_t seed, std::size_t capacity_max)
        : random_(seed),
          capacity_max_(capacity_max),
          queue_(capacity_max, OverflowPolicy::drop_oldest),
          model_{capacity_max} {}

    void step() {
        switch (below(16)) {
            case 0: resize(1 + below(capacity_max_)); break;
            case 1: set_policy(static_cast<OverflowPolicy>(below(3))); break;
            case 2:
            case 3:
            case 4:
            case 5:
            case 6: pop(below(capacity_max_)); break;
            case 7: pop(1); break;
            case 8: push(1); break;
            default: push(below(capacity_max_ + capacity_max_ / 2)); break;
        }
        check();
    }
    void close() {
        queue_.close();
        model_.closed = true;
    }

  private:
    /// Compares the queue with the model, and forgets the losses of the step.
    void check() {
        REQUIRE(queue_.size() == model_.held.size());
        REQUIRE(queue_.high_water() == model_.high_water);
        REQUIRE(queue_.lost() == lost_before_ + model_.lost.size());
        REQUIRE(pusher_.lost == model_.lost);
        REQUIRE(pusher_.losses == model_.losses);
        lost_before_ += model_.lost.size();
        for (std::vector<int>* const list : {&pusher_.lost, &model_.lost}) {
            list->clear();
        }
        for (std::vector<QueueLoss>* const list : {&pusher_.losses, &model_.losses}) {
            list->clear();
        }
    }

    std::size_t below(std::size_t bound) { return static_cast<std::size_t>(random_() % bound); }

    void resize(std::size_t capacity) {
        queue_.resize(capacity);
        model_.capacity = capacity;
        REQUIRE(queue_.capacity() == capacity);
    }
    void set_policy(OverflowPolicy policy) {
        queue_.set_policy(policy);
        model_.policy = policy;
    }
    void pop(std::size_t count) { REQUIRE(pop_up_to(queue_, count) == model_.pop(count)); }
    void push(std::size_t count) {
        if (model_.policy == OverflowPolicy::block && !model_.closed) {
            count = std::min(count, model_.room());  // no other thread would free capacity
        }
        pusher_.push(numbers(next_, static_cast<int>(count)));
        for (std::size_t index = 0; index < count; ++index) {
            model_.push(next_++);
        }
    }

    std::mt19937_64 random_;
    std::size_t capacity_max_;
    BoundedQueue<int> queue_;
    Pusher pusher_{queue_};
    Model model_;
    std::size_t lost_before_ = 0;
    int next_ = 0;
};

}  // namespace

TEST_CASE("any sequence of pushes, pops, resizes and policy changes has the same result as in the model",
          "[core][queue]") {
    const std::size_t capacity_max = GENERATE(std::size_t{4}, std::size_t{60}, std::size_t{1'000});
    const std::uint64_t seed = GENERATE(range<std::uint64_t>(1, 16));
    CAPTURE(capacity_max, seed);
    Comparison comparison(seed, capacity_max);
    for (int count = 0; count < 500; ++count) {
        comparison.step();
    }
    comparison.close();
    for (int count = 0; count < 20; ++count) {
        comparison.step();
    }
}
