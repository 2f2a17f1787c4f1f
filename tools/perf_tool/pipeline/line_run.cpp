#include "line_run.hpp"

#include "app/gateway.hpp"
#include "footprint/scratch.hpp"
#include "log/log.hpp"
#include "plan/plan.hpp"
#include "receiver.hpp"
#include "transport/harness.hpp"

#include <utility>

namespace telegate::perf {

namespace {

constexpr std::chrono::milliseconds look_interval{5};

std::string settings_text(const LineWork& work, const ScratchFolder* log_folder) {
    const std::string format = work.format == "json" ? "" : "format = " + work.format + "\n";  // json is the default
    const std::string log = log_folder == nullptr ? "" : "\n[log]\npath = " + log_folder->path() + "/log";
    return "log_level = off\nqueue_size = " + std::to_string(work.queue_size) + "\n[queue]\npolicy = " + work.policy +
           log + "\n[rest]\nlisten = 127.0.0.1:0\n[publish \"pipeline\"]\nendpoint = tcp://127.0.0.1:0\npolicy = " +
           work.slow_policy + "\n" + format;
}

class Line {
  public:
    explicit Line(const LineWork& work)
        : work_(work),
          times_(static_cast<std::size_t>(2 * work.ticks()) + 1'000),  // for machines that are too slow for it
          log_("off"),
          settings_(parse_settings(settings_text(work, log_folder_.get()), "pipeline")) {
        Plan plan = make_plan(settings_);
        PlannedDevice device;
        device.options.name = load_device;
        device.options.interval = std::chrono::duration_cast<decltype(device.options.interval)>(interval_);
        if (device.options.interval != interval_) {
            throw std::runtime_error("the sampler cannot have an interval of " + std::to_string(interval_.count()) +
                                     " ns");
        }
        device.options.started = false;
        device.driver = std::make_unique<LoadDriver>(work, times_);
        plan.devices.push_back(std::move(device));
        gateway_ = std::make_unique<Gateway>(settings_, std::move(plan), log_);
        gateway_->start();
        for (std::size_t index = 0; index < work.subscribers; ++index) {
            receivers_.push_back(std::make_unique<Receiver>(gateway_->endpoints().front(), work, times_));
        }
    }

    LineResult run() {
        wait_until("subscription", [this] { return status().publisher.subscriptions == receivers_.size(); });
        const std::uint64_t before_kib = memory_of(0).resident_kib;
        const std::vector<ThreadFigures> before = threads_of(0);
        if (!gateway_->command(load_device, DeviceCommand::start)) {
            throw std::runtime_error("the sampling thread does not respond");
        }
        watch_until_still();
        const std::vector<ThreadFigures> after = threads_of(0);
        const double memory_more =
            (static_cast<double>(memory_of(0).resident_kib) - static_cast<double>(before_kib)) / 1'024;
        LineResult result = settle();
        result.memory_more_mib = memory_more;
        result.sampling = since(before, after, "tg-sample");
        result.io = since(before, after, "tg-io");
        result.logging = since(before, after, "tg-log");
        result.receiving = since(before, after, receiver_thread);
        return result;
    }

  private:
    /// Polls a condition outside of the measured time.
    template <class Condition>
    static void wait_until(const char* awaited, Condition condition) {
        Patience patience;
        while (!condition()) {
            patience.check(awaited);
            std::this_thread::sleep_for(look_interval);
        }
    }

    StatusSnapshot status() {
        if (auto snapshot = gateway_->snapshot()) {
            return std::move(*snapshot);
        }
        throw std::runtime_error("the I/O thread does not respond");
    }

    /// Returns the sum over the connected subscribers.
    [[nodiscard]] static std::uint64_t sum_of(const StatusSnapshot& status, std::uint64_t PeerStatus::*count) {
        std::uint64_t sum = 0;
        for (const SubscriberStatus& subscriber : status.subscribers) {
            sum += subscriber.*count;
        }
        return sum;
    }

    [[nodiscard]] std::uint64_t received() const { return sum_of(&Receiver::samples); }
    [[nodiscard]] std::uint64_t messages() const { return sum_of(&Receiver::messages); }
    [[nodiscard]] std::uint64_t sum_of(std::uint64_t (Receiver::*count)() const noexcept) const {
        std::uint64_t sum = 0;
        for (const auto& receiver : receivers_) {
            sum += (*receiver.*count)();
        }
        return sum;
    }

    /// Waits until all subscribers have all samples, or nothing has arrived for so long that the rest must be in the
    /// ledger. Reads only counters, because a request would wake the measured threads.
    void watch_until_still() {
        constexpr std::chrono::milliseconds still_time{500};
        const std::uint64_t wanted = work_.samples * receivers_.size();
        std::pair<std::uint64_t, std::uint64_t> seen;
        auto changed = std::chrono::steady_clock::now();
        while (seen.second < wanted) {
            std::this_thread::sleep_for(look_interval);
            const std::pair<std::uint64_t, std::uint64_t> now{times_.given(), received()};
            if (now != seen) {
                seen = now;
                changed = std::chrono::steady_clock::now();
            } else if (std::chrono::steady_clock::now() - changed >
                       std::max(still_time, 3 * std::chrono::ceil<std::chrono::milliseconds>(interval_))) {
                break;
            }
        }
    }

    LineResult settle() {
        (void)gateway_->command(load_device, DeviceCommand::stop);
        StatusSnapshot last;
        wait_until("empty queue and backlogs", [&] {
            last = status();
            return last.ledger.front().queued == 0 && last.subscribers.size() == receivers_.size() &&
                   last.publisher.pending == 0 && (!last.log || last.log->pending == 0) &&
                   messages() == sum_of(last, &SubscriberStatus::sent);
        });
        for (const auto& receiver : receivers_) {
            receiver->stop();
        }
        LineResult result;
        const LedgerCounts& counts = last.ledger.front();
        result.offered = counts.sampled;
        result.received = received();
        result.messages = messages();
        result.lost_at_queue = counts.dropped_total();
        result.lost_at_backlogs = sum_of(last, &SubscriberStatus::dropped);
        result.lost_by_log = last.log ? last.log->lost : 0;
        result.queue_high_water = last.queue_high_water;
        check(result, counts.balanced() && counts.published + counts.dropped_total() == counts.sampled &&
                          (!last.log || last.log->log.samples + last.log->lost == counts.published));
        add_times(result);
        return result;
    }

    void check(const LineResult& result, bool balanced) const {
        for (const auto& receiver : receivers_) {
            if (!receiver->fault().empty()) {
                throw std::runtime_error(receiver->fault());
            }
        }
        const std::uint64_t wanted = (result.offered - result.lost_at_queue) * receivers_.size();
        const bool complete = result.messages == result.received  // one sample per message
                                  ? result.received + result.lost_at_backlogs == wanted
                                  : result.received == wanted || result.lost_at_backlogs > 0;
        if (!balanced || !complete || result.offered != times_.given()) {
            throw std::runtime_error("the ledger does not balance: offered " + std::to_string(times_.given()) +
                                     ", captured " + std::to_string(result.offered) + ", received " +
                                     std::to_string(result.received) + ", dropped by the queue " +
                                     std::to_string(result.lost_at_queue) + ", in the backlogs " +
                                     std::to_string(result.lost_at_backlogs));
        }
    }

    void add_times(LineResult& result) const {
        std::int64_t last = times_.last_mono_ns();
        for (const auto& receiver : receivers_) {
            result.delays.add(receiver->delays());
            last = std::max(last, receiver->last_mono_ns());
        }
        const auto seconds_since_first = [this](std::int64_t mono_ns) {
            return static_cast<double>(mono_ns - times_.first_mono_ns()) / 1e9;
        };
        result.offering_seconds = seconds_since_first(times_.last_mono_ns());
        result.seconds = seconds_since_first(last);
    }

    const LineWork work_;
    const std::chrono::nanoseconds interval_ = work_.tick();
    const std::unique_ptr<ScratchFolder> log_folder_ = work_.has_log ? std::make_unique<ScratchFolder>() : nullptr;
    CaptureTimes times_;
    Log log_;
    const Settings settings_;
    std::unique_ptr<Gateway> gateway_;
    std::vector<std::unique_ptr<Receiver>> receivers_;  // destroyed before the gateway
};

}  // namespace

void require_lossless(const LineResult& result) {
    if (!result.lossless()) {
        throw std::runtime_error("samples were lost: the queue dropped " + std::to_string(result.lost_at_queue) +
                                 " of " + std::to_string(result.offered) + ", the backlogs dropped " +
                                 std::to_string(result.lost_at_backlogs) + " messages");
    }
}

LineResult run_line(const LineWork& work) {
    return Line(work).run();
}

}  // namespace telegate::perf
