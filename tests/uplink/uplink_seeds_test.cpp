#include "support/catch.hpp"
#include "support/rounds.hpp"
#include "uplink/uplink_world.hpp"

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string>

namespace telegate::uplink {
namespace {

using std::chrono::milliseconds;

/// Returns the number in a variable of the environment.
std::uint64_t number_in(const char* variable, std::uint64_t otherwise) {
    const char* const text = std::getenv(variable);
    return text == nullptr ? otherwise : std::stoull(text);
}

/// Whether a payload has a sample that the back end never stores: one in 40, by its name.
bool has_bad_sample(const std::string& payload) {
    std::istringstream lines(payload);
    for (std::string line; std::getline(lines, line);) {
        const bool is_sample = std::count(line.begin(), line.end(), ' ') == 2;
        if (is_sample && std::hash<std::string>()(line) % 40 == 0) {
            return true;
        }
    }
    return false;
}

/// Everything that can happen to an uplink, chosen by a seed.
class Fate {
  public:
    explicit Fate(std::uint64_t number) : dice_(number + 1'000'000), world_(number) {
        if (number % 3 == 0) {
            world_.limits.bytes_max = 12'000;  // retention removes what is not delivered
            may_repeat_ = true;
        }
        if (number % 4 == 1) {
            world_.back_end.refuse = has_bad_sample;
            world_.quarantine.samples_max = 1'000;
        }
        world_.back_end.keeps_order = number % 5 < 3;
        world_.passes_on = number / 8 % 2 == 0;
        if (number % 8 == 2) {
            world_.back_end.payload_bytes_max = 60;  // a gap notice fits
            world_.quarantine.samples_max = 1'000;
        }
    }

    void run() {
        draw_order();
        world_.start();
        for (int step = 0; step < 300; ++step) {
            try {
                take_step(dice_.below(100));
                REQUIRE(world_.runner->status().ledger.balanced());
            } catch (const store::PowerFailure&) {
                restart([this] { world_.disk.clear_faults(); });
            }
        }
        finish();
    }

  private:
    void take_step(std::uint64_t kind) {
        if (kind < 12) {
            world_.add(dice_.below(3), 1 + dice_.below(20));
        } else if (kind < 14) {
            world_.add_gap(dice_.below(3), 1 + dice_.below(5));
        } else if (kind < 24) {
            world_.sync();
        } else if (kind < 30) {
            take_rare_step(dice_.below(11));
        } else {
            world_.turn(false, milliseconds(dice_.below(2'000)));
        }
    }

    /// After a loss, nothing else happens until a response shows it. Otherwise, other messages may take the lost places
    /// first, and the loss could not be noticed.
    void take_rare_step(std::uint64_t kind) {
        if (world_.back_end.must_respond) {
            return;
        }
        switch (kind) {
            case 0: return restart([] {});                             // the process is killed
            case 1: return restart([this] { world_.disk.crash(); });   // the power fails
            case 2: return world_.disk.crash_at(1 + dice_.below(30));  // the power will fail within a call
            case 3:
            case 4: return world_.runner->pause(kind == 3);
            case 5: return rewind();
            case 6: return world_.runner->retry_quarantined();
            case 7: return world_.turn(false, milliseconds(11'000));  // an outage
            case 8: return lose_messages();
            case 9:
                if (dice_.below(4) == 0) {
                    world_.back_end.forget_ids();
                    may_repeat_ = true;
                }
                return;
            default:
                if (dice_.below(4) == 0) {
                    world_.runner->clear_quarantine();
                }
                return;
        }
    }

    void draw_order() {
        world_.order = dice_.below(3) == 0 ? UplinkRunner::Order::strict : UplinkRunner::Order::live_first;
    }

    void lose_messages() {
        if (world_.back_end.keeps_order) {
            world_.disk.clear_faults();
            world_.back_end.lose_last(dice_.below(20));
        }
    }

    void rewind() {
        const auto position = dice_.below<store::Position>(world_.runner->status().settled + 1);
        (void)world_.runner->rewind(RewindTarget(position));
    }

    void restart(const std::function<void()>& between) {
        world_.end_process();
        between();
        draw_order();
        world_.start();
    }

    /// Without further faults, everything is delivered.
    void finish() {
        world_.disk.clear_faults();
        world_.runner->pause(false);
        world_.sync();
        for (auto time = milliseconds(0); time <= 2 * UplinkRunner::check_interval; time += milliseconds(1'000)) {
            world_.turn(true, milliseconds(1'000));  // until lost messages are noticed
        }
        const bool is_finished = world_.finish();
        const UplinkStatus status = world_.runner->status();
        CAPTURE(to_string(status.state), status.error, status.is_paused, status.quarantined, status.settled,
                status.is_behind, status.has_backlog, status.backlog, status.lag);
        REQUIRE(is_finished);
        REQUIRE(world_.runner->status().ledger.balanced());
        const std::uint64_t repeated = world_.check_complete();
        REQUIRE((repeated == 0 || may_repeat_));
        REQUIRE(world_.restarts == 0);
    }

    SimulatedBackEnd dice_;
    World world_;
    bool may_repeat_ = false;  // samples may be stored twice
};

}  // namespace

TEST_CASE("whatever fails, everything synced is delivered or named, and repeated only if ids were forgotten",
          "[uplink][runner]") {
    const std::uint64_t begin = number_in("UPLINK_FIRST_SEED", 0);
    const std::uint64_t end = begin + number_in("UPLINK_SEEDS", test::rounds(600U));
    for (std::uint64_t seed = begin; seed < end; ++seed) {
        CAPTURE(seed);
        Fate(seed).run();
    }
}

}  // namespace telegate::uplink
