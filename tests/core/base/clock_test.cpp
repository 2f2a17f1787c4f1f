#include "core/clock.hpp"

#include "support/catch.hpp"

#include <cstdint>

using namespace std::chrono_literals;

namespace {

/// Is preempted for 5 ms between two reads, as often as requested.
class ClockOfABusyMachine final : public telegate::Clock {
  public:
    explicit ClockOfABusyMachine(int stalls) : stalls_(stalls) {}
    [[nodiscard]] telegate::MonoTime mono_now() const noexcept override { return telegate::MonoTime(now_); }
    [[nodiscard]] std::int64_t utc_now_ns() const noexcept override {
        if (stalls_ > 0) {
            --stalls_;
            now_ += 5ms;
        }
        return ahead_ns + now_.count();
    }
    static constexpr std::int64_t ahead_ns = 1'700'000'000'000'000'000;

  private:
    mutable int stalls_;
    mutable telegate::Duration now_ = 1s;
};

}  // namespace

TEST_CASE("both clocks are read again if the thread was preempted between them") {
    const ClockOfABusyMachine clock(3);
    const telegate::ClockPair now = telegate::read_both(clock);
    CHECK(now.utc_ns - now.mono_ns == ClockOfABusyMachine::ahead_ns);
}

TEST_CASE("a thread that is always preempted gets the closest pair of values that it read") {
    const ClockOfABusyMachine clock(1'000);
    const telegate::ClockPair now = telegate::read_both(clock);
    CHECK(now.utc_ns - now.mono_ns <= ClockOfABusyMachine::ahead_ns + telegate::Duration(5ms).count());
    CHECK(now.utc_ns - now.mono_ns >= ClockOfABusyMachine::ahead_ns);
}
