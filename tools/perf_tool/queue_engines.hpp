#pragma once

#include "core/bounded_queue.hpp"
#include "core/telemetry_sample.hpp"

#include <concurrentqueue.h>
#include <boost/lockfree/spsc_queue.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <queue>
#include <span>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

/// Samples, each with its producer and its number, which counts from 1 for each producer, and one adapter per queue.
/// The constructor of an adapter takes the capacity, which is the initial size of queues without a limit. Each pushing
/// thread has a Producer, whose push() takes one sample, or several if the queue supports that. pop() takes as many
/// samples as fit into `out` and does not wait, except in MutexEngine. lost() returns the samples that the queue
/// dropped; only bounded queues have it.
///
/// Threads and limits: those of the queue. Failure: std::bad_alloc.
namespace telegate::perf {

/// The sample of TelemetryHub: it owns the text of its unit.
struct LabeledSample {
    std::chrono::system_clock::time_point time{};
    double value = 0.0;
    std::string unit = "unitless";
    std::uint32_t seq = 0;
};

/// 240 bytes, including the text, which can be copied as bytes.
struct InlineTextSample {
    std::int64_t time_ns = 0;
    std::uint64_t seq = 0;
    double value = 0;
    std::uint32_t producer = 0;
    std::uint32_t text_bytes = 0;
    std::array<char, 208> text{};
};
static_assert(sizeof(InlineTextSample) == 240 && std::is_trivially_copyable_v<InlineTextSample>);

/// Makes a sample the next one of its producer.
inline void renew(TelemetrySample& sample, std::uint32_t producer, std::uint64_t seq) noexcept {
    sample.channel = ChannelId{producer};
    sample.seq = seq;
    sample.type = ValueType::real;
    sample.value.real = static_cast<double>(seq);
}
inline void renew(InlineTextSample& sample, std::uint32_t producer, std::uint64_t seq) noexcept {
    sample.producer = producer;
    sample.seq = seq;
    sample.value = static_cast<double>(seq);
}

[[nodiscard]] inline std::size_t producer_of(const TelemetrySample& sample) noexcept {
    return to_index(sample.channel);
}
[[nodiscard]] inline std::size_t producer_of(const InlineTextSample& sample) noexcept {
    return sample.producer;
}
[[nodiscard]] inline std::size_t producer_of(const LabeledSample& /*sample*/) noexcept {
    return 0;
}

/// Checks the order of the samples of each producer and counts all samples. Threads: one at a time.
class Receipts {
  public:
    explicit Receipts(std::size_t producers) : last_(producers, 0) {}

    template <class Sample>
    void record(const Sample& sample) noexcept {
        std::uint64_t& last = last_[producer_of(sample)];
        rising_ = rising_ && sample.seq > last;
        last = sample.seq;
        ++count_;
    }
    [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
    /// Returns whether each of the `sent` samples was received once, except `lost` samples.
    [[nodiscard]] bool complete(std::uint64_t sent, std::uint64_t lost) const noexcept {
        return rising_ && count_ + lost == sent;
    }

  private:
    std::vector<std::uint64_t> last_;  // by producer
    std::uint64_t count_ = 0;
    bool rising_ = true;
};

/// A std::queue with a mutex: it locks for each sample, signals at each push, and copies the samples out.
///
/// Threads: any.
/// Limits:  none; it grows while the consumer is slower.
/// Failure: push() throws std::bad_alloc.
template <class Sample>
class MutexEngine {
  public:
    explicit MutexEngine(std::size_t) {}

    struct Producer {
        MutexEngine& engine;
        void push(const Sample& sample) { engine.push(sample); }
    };
    template <class Item>
    void push(Item&& item) {
        {
            const std::lock_guard lock(mutex_);
            items_.push(std::forward<Item>(item));
        }
        not_empty_.notify_one();
    }
    /// Waits for a sample.
    std::size_t pop(std::span<Sample> out) {
        std::unique_lock lock(mutex_);
        not_empty_.wait(lock, [this] { return !items_.empty(); });
        out.front() = items_.front();
        items_.pop();
        return 1;
    }

  private:
    std::mutex mutex_;
    std::condition_variable not_empty_;
    std::queue<Sample> items_;
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

  private:
    boost::lockfree::spsc_queue<Sample> queue_;
};

/// Without a token, the queue finds its part for the thread at each push and pop.
template <class Sample>
class MoodycamelEngine {
  public:
    explicit MoodycamelEngine(std::size_t capacity) : queue_(capacity) {}

    struct Producer {
        MoodycamelEngine& engine;
        void push(const Sample& sample) { engine.queue_.enqueue(sample); }
    };
    std::size_t pop(std::span<Sample> out) { return queue_.try_dequeue(out.front()) ? 1 : 0; }

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
        void push(const Sample& sample) { queue.push(way_in, sample, no_report); }
        void push(std::span<const Sample> samples) { queue.push(way_in, samples, no_report); }
        static void no_report(const Sample&, QueueLoss) noexcept {}
        BoundedQueue<Sample>& queue;
        typename BoundedQueue<Sample>::Producer& way_in;
    };
    std::size_t pop(std::span<Sample> out) noexcept { return queue_.pop(out); }
    [[nodiscard]] std::uint64_t lost() const noexcept { return queue_.lost(); }

  private:
    BoundedQueue<Sample> queue_;
    std::atomic<bool> has_first_{false};
};

/// Returns the samples that an engine dropped.
template <class Engine>
[[nodiscard]] std::uint64_t lost_by(const Engine& engine) noexcept {
    if constexpr (requires { engine.lost(); }) {
        return engine.lost();
    } else {
        return 0;
    }
}

/// Calls `each(type, name, is_bulk)` for the queues that support this number of producers.
template <class Sample, class Each>
void for_each_queue(std::size_t producers, const Each& each) {
    using enum OverflowPolicy;
    each(std::type_identity<MutexEngine<Sample>>(), "mutex_queue", false);
    if (producers == 1) {
        each(std::type_identity<BoostEngine<Sample>>(), "boost spsc single", false);
        each(std::type_identity<BoostEngine<Sample>>(), "boost spsc bulk", true);
    }
    each(std::type_identity<MoodycamelEngine<Sample>>(), "moodycamel single", false);
    each(std::type_identity<MoodycamelTokenEngine<Sample>>(), "moodycamel token", false);
    each(std::type_identity<MoodycamelTokenEngine<Sample>>(), "moodycamel bulk", true);
    each(std::type_identity<BoundedEngine<Sample, block>>(), "Bounded single block", false);
    each(std::type_identity<BoundedEngine<Sample, block>>(), "Bounded bulk block", true);
    each(std::type_identity<BoundedEngine<Sample, drop_newest>>(), "Bounded single drop_newest", false);
    each(std::type_identity<BoundedEngine<Sample, drop_newest>>(), "Bounded bulk drop_newest", true);
    each(std::type_identity<BoundedEngine<Sample, drop_oldest>>(), "Bounded single drop_oldest", false);
    each(std::type_identity<BoundedEngine<Sample, drop_oldest>>(), "Bounded bulk drop_oldest", true);
}

}  // namespace telegate::perf
