#include "core/asymmetric_fence.hpp"

#include "support/catch.hpp"

#include <atomic>
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

}  // namespace

TEST_CASE("of two that write and then look at the other's, one sees the other", "[core][thread]") {
    constexpr int rounds_total = 3'000;
    Rounds rounds;
    std::atomic<int> light{0};
    std::atomic<int> heavy{0};
    std::atomic<int> blind{0};
    int seen_by_light = 0;
    std::thread other([&] {
        for (int round = 1; round <= rounds_total; ++round) {
            rounds.wait_for(2 * round - 1);
            light.store(round, std::memory_order_relaxed);
            light_fence();
            seen_by_light = heavy.load(std::memory_order_relaxed);
            rounds.wait_for(2 * round);
        }
    });
    for (int round = 1; round <= rounds_total; ++round) {
        rounds.wait_for(2 * round - 1);
        heavy.store(round, std::memory_order_relaxed);
        heavy_fence();
        const int seen_by_heavy = light.load(std::memory_order_relaxed);
        rounds.wait_for(2 * round);
        blind += seen_by_heavy < round && seen_by_light < round ? 1 : 0;
    }
    other.join();
    CHECK(blind == 0);
}
