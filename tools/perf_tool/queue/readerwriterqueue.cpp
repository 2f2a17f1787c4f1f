#include "contenders.hpp"

#include <readerwriterqueue/readerwriterqueue.h>

#include <span>
#include <thread>

namespace telegate::perf {

namespace {

/// As those in engines.hpp. Its bound is in blocks, of a few more than its capacity.
template <class Sample>
class ReaderWriterEngine {
  public:
    explicit ReaderWriterEngine(std::size_t capacity) : queue_(capacity) {}

    struct Producer {
        ReaderWriterEngine& engine;
        void push(const Sample& sample) {
            while (!engine.queue_.try_enqueue(sample)) {
                std::this_thread::yield();
            }
        }
        void push(std::span<const Sample> samples) {
            for (const Sample& sample : samples) {
                push(sample);
            }
        }
    };
    std::size_t pop(std::span<Sample> out) { return queue_.try_dequeue(out.front()) ? 1 : 0; }
    [[nodiscard]] std::uint64_t lost() const noexcept { return 0; }

  private:
    moodycamel::ReaderWriterQueue<Sample> queue_;
};

}  // namespace

template <class Sample>
std::optional<Contender> readerwriterqueue_contender() {
    return watched_single<ReaderWriterEngine<Sample>, Sample>("readerwriterqueue");
}

template std::optional<Contender> readerwriterqueue_contender<TelemetrySample>();
template std::optional<Contender> readerwriterqueue_contender<InlineTextSample>();
template std::optional<Contender> readerwriterqueue_contender<StringSample>();

}  // namespace telegate::perf
