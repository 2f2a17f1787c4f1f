#pragma once

#include "core/bounded_queue.hpp"
#include "mutex_queue.hpp"

#include <concurrentqueue/concurrentqueue.h>
#include <boost/lockfree/spsc_queue.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <thread>

/// One adapter for each queue, all with the same shape: an Engine is made for a capacity, which those without a bound
/// only begin with; a Producer of it lives in the thread that pushes, one sample or several; pop() takes up to as many
/// as fit in `out`, without waiting unless it says so; lost() are those that the queue has refused or given up.
///
/// Threads: as the queue's own. Limits: as the queue's own. Failure: std::bad_alloc.
namespace telegate::perf {

template <class Sample>
class MutexEngine {
  public:
    explicit MutexEngine(std::size_t) {}

    struct Producer {
        MutexEngine& engine;
        void push(const Sample& sample) { engine.queue_.push(sample); }
        void push(std::span<const Sample> samples) {
            for (const Sample& sample : samples) {
                push(sample);
            }
        }
    };
    /// Waits until there is one.
    std::size_t pop(std::span<Sample> out) {
        auto sample = queue_.pop();
        out.front() = *std::move(sample);
        return 1;
    }
    [[nodiscard]] std::uint64_t lost() const noexcept { return 0; }

  private:
    MutexQueue<Sample> queue_;
};

template <class Sample>
class BoostEngine {
  public:
    explicit BoostEngine(std::size_t capacity) : queue_(capacity) {}

    struct Producer {
        BoostEngine& engine;
        void push(const Sample& sample) {
            while (!engine.queue_.push(sample)) {
                std::this_thread::yield();
            }
        }
        void push(std::span<const Sample> samples) {
            while (!samples.empty()) {
                const std::size_t pushed = engine.queue_.push(samples.data(), samples.size());
                if (pushed == 0) {
                    std::this_thread::yield();
                }
                samples = samples.subspan(pushed);
            }
        }
    };
    std::size_t pop(std::span<Sample> out) {
        return out.size() == 1 ? std::size_t{queue_.pop(out.front())} : queue_.pop(out.data(), out.size());
    }
    [[nodiscard]] std::uint64_t lost() const noexcept { return 0; }

  private:
    boost::lockfree::spsc_queue<Sample> queue_;
};

/// Finds its part of the queue by the thread, for each push and pop.
template <class Sample>
class MoodycamelEngine {
  public:
    explicit MoodycamelEngine(std::size_t capacity) : queue_(capacity) {}

    struct Producer {
        MoodycamelEngine& engine;
        void push(const Sample& sample) { engine.queue_.enqueue(sample); }
        void push(std::span<const Sample> samples) { engine.queue_.enqueue_bulk(samples.data(), samples.size()); }
    };
    std::size_t pop(std::span<Sample> out) {
        return out.size() == 1 ? std::size_t{queue_.try_dequeue(out.front())}
                               : queue_.try_dequeue_bulk(out.data(), out.size());
    }
    [[nodiscard]] std::uint64_t lost() const noexcept { return 0; }

  private:
    moodycamel::ConcurrentQueue<Sample> queue_;
};

/// With a token in each thread.
template <class Sample>
class MoodycamelTokenEngine {
  public:
    explicit MoodycamelTokenEngine(std::size_t capacity) : queue_(capacity), token_(queue_) {}

    struct Producer {
        explicit Producer(MoodycamelTokenEngine& owner) : engine(owner), token(owner.queue_) {}
        void push(const Sample& sample) { engine.queue_.enqueue(token, sample); }
        void push(std::span<const Sample> samples) {
            engine.queue_.enqueue_bulk(token, samples.data(), samples.size());
        }
        MoodycamelTokenEngine& engine;
        moodycamel::ProducerToken token;
    };
    std::size_t pop(std::span<Sample> out) {
        return out.size() == 1 ? std::size_t{queue_.try_dequeue(token_, out.front())}
                               : queue_.try_dequeue_bulk(token_, out.data(), out.size());
    }
    [[nodiscard]] std::uint64_t lost() const noexcept { return 0; }

  private:
    moodycamel::ConcurrentQueue<Sample> queue_;
    moodycamel::ConsumerToken token_;
};

template <class Sample, OverflowPolicy policy>
class BoundedEngine {
  public:
    explicit BoundedEngine(std::size_t capacity) : queue_(capacity, policy) {}

    struct Producer {
        explicit Producer(BoundedEngine& owner)
            : queue(owner.queue_), way_in(owner.has_first_.exchange(true) ? queue.add_producer() : queue.first()) {
            queue.enroll(way_in);
        }
        void push(const Sample& sample) { queue.push(way_in, sample, no_note); }
        void push(std::span<const Sample> samples) { queue.push(way_in, samples, no_note); }
        static void no_note(const Sample&, QueueLoss) noexcept {}
        BoundedQueue<Sample>& queue;
        typename BoundedQueue<Sample>::Producer& way_in;
    };
    std::size_t pop(std::span<Sample> out) noexcept { return queue_.pop(out); }
    [[nodiscard]] std::uint64_t lost() const noexcept { return queue_.lost(); }

  private:
    BoundedQueue<Sample> queue_;
    std::atomic<bool> has_first_{false};
};

}  // namespace telegate::perf
