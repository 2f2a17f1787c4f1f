#include "pipeline/line.hpp"

#include "app/gateway.hpp"
#include "bench.hpp"
#include "log/log.hpp"
#include "pipeline/receiver.hpp"
#include "plan/plan.hpp"
#include "transport/harness.hpp"

#include <utility>

namespace telegate::perf {

namespace {

constexpr double look_seconds = 0.005;

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
        auto plan = make_plan(settings_);
        PlannedDevice device;
        device.options.name = load_device;
        device.options.interval = std::chrono::duration_cast<decltype(device.options.interval)>(work.tick());
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
        const std::vector<ThreadFigures> before = threads_of(0);
        if (!gateway_->command(load_device, DeviceCommand::start)) {
            throw std::runtime_error("the sampling thread does not respond");
        }
        watch_until_still();
        const std::vector<ThreadFigures> after = threads_of(0);
        LineResult result = settle();
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
            wait_seconds(look_seconds);
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
        const std::uint64_t wanted = work_.samples * receivers_.size();
        const double still_seconds = std::max(0.5, 3 * std::chrono::duration<double>(work_.tick()).count());
        std::pair<std::uint64_t, std::uint64_t> seen;
        auto changed = std::chrono::steady_clock::now();
        while (seen.second < wanted) {
            wait_seconds(look_seconds);
            const std::pair<std::uint64_t, std::uint64_t> now{times_.given(), sum_of(&Receiver::samples)};
            if (now != seen) {
                seen = now;
                changed = std::chrono::steady_clock::now();
            } else if (seconds_since(changed) > still_seconds) {
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
                   sum_of(&Receiver::messages) == sum_of(last, &SubscriberStatus::sent);
        });
        for (const auto& receiver : receivers_) {
            receiver->stop();
        }
        LineResult result;
        const LedgerCounts& counts = last.ledger.front();
        result.offered = counts.sampled;
        result.received = sum_of(&Receiver::samples);
        result.messages = sum_of(&Receiver::messages);
        result.lost_at_queue = counts.dropped_total();
        result.lost_at_backlogs = sum_of(last, &SubscriberStatus::dropped);
        result.lost_by_log = last.log ? last.log->lost : 0;
        result.queue_high_water = last.queue_high_water;
        check(result, counts.balanced() && counts.published + counts.dropped_total() == counts.sampled &&
                          (!last.log || last.log->log.samples + last.log->lost == counts.published));
        std::int64_t last_mono_ns = times_.last_mono_ns();
        for (const auto& receiver : receivers_) {
            result.delays.add(receiver->delays());
            last_mono_ns = std::max(last_mono_ns, receiver->last_mono_ns());
        }
        result.seconds = static_cast<double>(last_mono_ns - times_.first_mono_ns()) / 1e9;
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

    const LineWork work_;
    const std::unique_ptr<ScratchFolder> log_folder_ = work_.has_log ? std::make_unique<ScratchFolder>() : nullptr;
    CaptureTimes times_;
    Log log_;
    const Settings settings_;
    std::unique_ptr<Gateway> gateway_;
    std::vector<std::unique_ptr<Receiver>> receivers_;  // destroyed before the gateway
};

}  // namespace

LineResult run_line(const LineWork& work) {
    return Line(work).run();
}

}  // namespace telegate::perf
