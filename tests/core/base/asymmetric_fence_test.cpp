#include "core/asymmetric_fence.hpp"

#include "support/catch.hpp"

#include <atomic>
#include <chrono>
#include <thread>

using namespace telegate;

namespace {

/// Two threads that start each round together.
class Rounds {
  public:
    void wait_for(int round) {
        arrived_.fetch_add(1);
        for (int looks = 1; arrived_.load() < 2 * round; ++looks) {
            if (looks % 1'000 == 0) {
                std::this_thread::yield();
            }
        }
    }

  private:
    std::atomic<int> arrived_{0};
};

/// What one side writes, on a cache line of its own, since two that share one are never blind to each other.
struct alignas(64) Side {
    std::atomic<int> written{0};
    int seen = 0;  // of the other side's
};

/// So that neither side is always the first.
void linger(int steps) {
    for (std::atomic<int> step{0}; step.load(std::memory_order_relaxed) < steps;) {
        step.fetch_add(1, std::memory_order_relaxed);
    }
}

constexpr int steps_max = 32;

/// Rounds in which neither saw the other's.
int blind_rounds(int rounds_max, std::chrono::seconds time) {
    Rounds rounds;
    Side light;
    Side heavy;
    std::atomic<bool> last{false};
    std::thread other([&] {
        for (int round = 1; !last; ++round) {
            rounds.wait_for(2 * round - 1);
            linger(round % steps_max);
            light.written.store(round, std::memory_order_relaxed);
            light_fence();
            light.seen = heavy.written.load(std::memory_order_relaxed);
            rounds.wait_for(2 * round);
        }
    });
    const auto end = std::chrono::steady_clock::now() + time;
    int blind = 0;
    for (int round = 1; !last; ++round) {
        rounds.wait_for(2 * round - 1);
        linger(round / steps_max % steps_max);
        heavy.written.store(round, std::memory_order_relaxed);
        heavy_fence();
        heavy.seen = light.written.load(std::memory_order_relaxed);
        last = round == rounds_max || std::chrono::steady_clock::now() > end;
        rounds.wait_for(2 * round);
        blind += light.seen < round && heavy.seen < round ? 1 : 0;
    }
    other.join();
    return blind;
}

}  // namespace

TEST_CASE("of two that write and then look at the other's, one sees the other", "[core][thread]") {
    constexpr int rounds = 100'000;
    CHECK(blind_rounds(rounds, std::chrono::seconds(2)) == 0);
}
