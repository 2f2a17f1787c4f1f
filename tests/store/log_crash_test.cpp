#include "store/log_model.hpp"
#include "store/sample_log.hpp"
#include "store/simulated_disk.hpp"
#include "support/catch.hpp"
#include "support/rounds.hpp"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <system_error>

namespace telegate::store {
namespace {

constexpr std::uint32_t channel_count = 5;

/// One life of a log on one disk: work with faults, loss of power, recovery, and again.
class CrashRun {
  public:
    explicit CrashRun(std::uint64_t seed) : seed_(seed), random_(seed), disk_(seed * 31 + 7) {
        for (std::uint32_t i = 0; i < channel_count; ++i) {
            channels_.add(DeviceId{0}, "device", "channel" + std::to_string(i), "");
        }
    }

    /// Returns "" or what is wrong.
    std::string run() {
        for (int life = 0; life < 4; ++life) {
            try {
                start();
                work();
            } catch (const PowerFailure&) {
            }
            if (log_ != nullptr && log_->status().segments > segments_at_start_) {
                highest_ = std::max(highest_, log_->status().next);
            }
            log_.reset();
            disk_.crash();
            if (std::string wrong = model_.check(disk_, "/log"); !wrong.empty()) {
                return "life " + std::to_string(life) + ": " + wrong;
            }
        }
        return "";
    }

  private:
    std::uint64_t below(std::uint64_t limit) { return random_() % limit; }

    void start() {
        ++epoch_;
        seqs_.assign(channel_count, 0);
        if (below(3) == 0) {
            disk_.crash_at(1 + below(60));  // perhaps in the middle of the recovery
        }
        try {
            log_ =
                std::make_unique<SampleLog>(SampleLog::Parts{disk_, channels_, clock_},
                                            SampleLog::Options{"/log", epoch_, LogId{std::byte{1}}, limits(), 3'000});
        } catch (const std::system_error&) {
            throw PowerFailure{};
        }
        if (log_->recovery().next < highest_) {
            FAIL("seed " << seed_ << ": position " << log_->recovery().next << " was used before " << highest_);
        }
        segments_at_start_ = log_->status().segments;
        disk_.clear_faults();
        disk_.crash_at(1 + below(400));
    }

    LogLimits limits() {
        LogLimits limits;
        limits.bytes_max = below(2) == 0 ? 0 : 6'000 + below(20'000);
        limits.when_full = static_cast<WhenFull>(below(3));
        return limits;
    }

    void append() {
        std::vector<TelemetrySample> samples;
        const auto count = 1 + below(60);
        for (std::uint64_t i = 0; i < count; ++i) {
            const auto channel = static_cast<std::uint32_t>(below(channel_count));
            samples.push_back(make_sample(epoch_, static_cast<ChannelId>(channel), ++seqs_[channel]));
            expected(channel).last_seq = seqs_[channel];
        }
        log_->append(samples);
    }

    void append_gap() {
        const auto channel = static_cast<std::uint32_t>(below(channel_count));
        const std::uint64_t first = seqs_[channel] + 1;
        seqs_[channel] += 1 + below(9);
        expected(channel).last_seq = seqs_[channel];
        expected(channel).gaps.push_back({first, seqs_[channel]});
        log_->append(LogGap{static_cast<ChannelId>(channel), first, seqs_[channel], GapReason::queue_overflow});
    }

    void work() {
        for (int step = 0; step < 120; ++step) {
            try {
                switch (below(11)) {
                    case 0:
                    case 1:
                    case 2:
                        if (log_->has_capacity()) {
                            append();
                        }
                        break;
                    case 3:
                        if (log_->has_capacity()) {
                            append_gap();
                        }
                        break;
                    case 4: log_->write(); break;
                    case 5:
                        disk_.fail_at(1 + below(6),
                                      below(2) == 0 ? std::errc::io_error : std::errc::no_space_on_device);
                        break;
                    case 6: log_->set_limits(limits()); break;
                    case 7:
                        if (below(40) == 0) {
                            return close();
                        }
                        break;
                    case 8: log_->mark([&](ChannelId channel) { return seqs_[to_index(channel)]; }); break;
                    default:
                        log_->sync();
                        if (log_->status().dropped_unnamed == 0) {
                            model_.record_sync(epoch_);
                        }
                }
            } catch (const std::system_error&) {  // the disk has failed, and works again
            }
        }
    }

    void close() {
        try {
            log_->close();
            model_.record_sync(epoch_);
        } catch (const std::system_error&) {  // the gateway ends all the same
        }
    }

    LogModel::Channel& expected(std::uint32_t channel) {
        return model_.at(epoch_, channels_.at(static_cast<ChannelId>(channel)).topic);
    }

    const std::uint64_t seed_;
    std::mt19937_64 random_;
    SimulatedDisk disk_;
    SystemClock clock_;
    ChannelTable channels_;
    LogModel model_;
    std::unique_ptr<SampleLog> log_;
    std::int64_t epoch_ = 0;
    std::vector<std::uint64_t> seqs_;
    Position highest_ = 0;  // that a reader may have seen
    std::uint64_t segments_at_start_ = 0;
};

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
    const char* const text = std::getenv(variable);
    return text == nullptr ? otherwise : std::stoull(text);
}

}  // namespace

TEST_CASE("nothing that was synced is missing after any sequence of faults and power failures", "[store][crash]") {
    const std::uint64_t first = number_from("TELEGATE_STORE_SEED", 0);
    const std::uint64_t seeds = number_from("TELEGATE_STORE_SEEDS", test::rounds(2'000U));
    for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
        const std::string wrong = CrashRun(seed).run();
        if (!wrong.empty()) {
            FAIL("seed " << seed << ": " << wrong);
        }
    }
}

}  // namespace telegate::store
