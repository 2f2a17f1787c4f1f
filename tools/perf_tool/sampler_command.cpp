#include "command.hpp"
#include "core/bounded_queue.hpp"
#include "core/channel_table.hpp"
#include "core/ledger.hpp"
#include "core/waker.hpp"
#include "device/driver.hpp"
#include "device/sampler.hpp"
#include "device/sampling_threads.hpp"
#include "device/thread_schedule.hpp"
#include "rest/status_clients.hpp"
#include "sampler/tick_record.hpp"

#include <poll.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <time.h>

#include <array>
#include <future>
#include <memory>
#include <stop_token>

namespace telegate::perf {

namespace {

/// One run of an engine: it serves `ticks` deadlines in a thread of its own.
struct TickWork {
    Duration interval{};
    std::uint64_t ticks = 0;
    ThreadSchedule schedule;
};

/// `run` throws std::runtime_error if a sample is lost or the system refuses the schedule.
struct TickEngine {
    const char* name;
    TickRecord (*run)(const TickWork& work);
};

constexpr unsigned long slack_least_ns = 1;
constexpr unsigned long slack_default_ns = 50'000;
constexpr std::size_t queue_capacity = 65'536;  // more than a second at the highest rate
constexpr std::size_t pump_items = 256;         // taken at once

void require_granted(const ScheduleGrant& grant) {
    if (grant.priority_refused || grant.processors_refused) {
        throw std::runtime_error(
            "the system refuses the priority or the processors: " +
            (grant.priority_refused ? grant.priority_refused : grant.processors_refused).message());
    }
}

void serve_all(TickRecord& record) {
    constexpr std::int64_t second_ns = 1'000'000'000;
    record.begin(std::chrono::steady_clock::now());
    for (;;) {
        record.serve(std::chrono::steady_clock::now());
        if (record.is_complete()) {
            return;
        }
        const std::int64_t due_ns = to_ns(record.due());
        const timespec due{static_cast<time_t>(due_ns / second_ns), static_cast<long>(due_ns % second_ns)};
        ::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, nullptr);
    }
}

TickRecord run_in_thread(const TickWork& work, unsigned long slack_ns) {
    TickRecord record(work.interval, work.ticks);
    std::async(std::launch::async, [&] {
        require_granted(schedule_thread(::pthread_self(), work.schedule));
        ::prctl(PR_SET_TIMERSLACK, slack_ns);
        serve_all(record);
    }).get();
    return record;
}

/// The system's clock, which remembers the last two times that it returned. At the first read of a device, the last is
/// the time of the read. The one before it is the time of the step, which is the origin of the device's deadlines.
/// Threads: one at a time; the sampling thread once it runs.
class RememberingClock final : public Clock {
  public:
    [[nodiscard]] MonoTime mono_now() const noexcept override {
        before_last_ = std::exchange(last_, clock_.mono_now());
        return last_;
    }
    [[nodiscard]] std::int64_t utc_now_ns() const noexcept override { return clock_.utc_now_ns(); }
    [[nodiscard]] MonoTime before_last() const noexcept { return before_last_; }

  private:
    SystemClock clock_;
    mutable MonoTime last_{};
    mutable MonoTime before_last_{};
};

/// A device of one channel that records when it is read. Threads: the sampling thread.
class TickDriver final : public Driver {
  public:
    TickDriver(const RememberingClock& clock, TickRecord& record, std::atomic<bool>& complete)
        : clock_(clock), record_(record), complete_(complete) {}

    void open(SampleBatch& batch) override { channel_ = batch.add_channel("tick", "1"); }
    ReadResult read(SampleBatch& batch, MonoTime now) noexcept override {
        if (record_.served() == 0) {
            record_.begin(clock_.before_last());
        }
        if (!record_.is_complete()) {
            record_.serve(now);
            if (record_.is_complete()) {
                complete_ = true;
                complete_.notify_all();
            }
        }
        batch.add(channel_, static_cast<std::int64_t>(record_.served()));
        return {};
    }
    void reset() noexcept override {}

  private:
    const RememberingClock& clock_;
    TickRecord& record_;
    std::atomic<bool>& complete_;
    SampleBatch::Channel channel_ = SampleBatch::Channel::none;
};

/// The parts of the gateway from the device to the queue.
struct SamplerLine {
    RememberingClock clock;
    ChannelTable channels;
    Ledger ledger{1, channels};
    BoundedQueue<TelemetrySample> queue{queue_capacity, OverflowPolicy::drop_oldest};
    Waker waker;
    Sampler sampler{clock, channels, {queue, ledger, waker}};
};

/// Takes samples as the pump does, until `stop` is set and the queue is empty. Returns their number.
std::uint64_t take_out(SamplerLine& line, const std::atomic<bool>& stop) {
    std::array<TelemetrySample, pump_items> samples;
    std::uint64_t taken = 0;
    for (;;) {
        line.waker.clear();  // first, so that later notifications wake this thread again
        const bool is_last = stop.load();
        for (std::size_t count = line.queue.pop(samples); count > 0; count = line.queue.pop(samples)) {
            const std::array<std::uint64_t, 1> counts{count};
            line.ledger.taken(counts, counts);
            taken += count;
        }
        if (is_last) {
            return taken;
        }
        pollfd waiting{line.waker.descriptor(), POLLIN, 0};
        ::poll(&waiting, 1, -1);
    }
}

/// A loop of clock_nanosleep() and reading the clock, with a timer slack of 1 ns, as the sampling thread has.
TickRecord run_bare(const TickWork& work) {
    return run_in_thread(work, slack_least_ns);
}

/// The same with the default timer slack of 50 us.
TickRecord run_bare_with_slack(const TickWork& work) {
    return run_in_thread(work, slack_default_ns);
}

/// The gateway's sampler and sampling thread with a device of one channel, the queue, and a thread that takes the
/// samples and is woken as the I/O thread is.
TickRecord run_sampler(const TickWork& work) {
    TickRecord record(work.interval, work.ticks);
    std::atomic<bool> complete{false};
    SamplerLine line;
    DeviceOptions options;
    options.name = "clock";
    options.interval = work.interval;
    line.sampler.add(options, std::make_unique<TickDriver>(line.clock, record, complete));
    SamplingThreads thread(line.sampler, line.clock, work.schedule);
    std::atomic<bool> stop{false};
    std::uint64_t taken = 0;
    std::thread consumer([&] { taken = take_out(line, stop); });
    thread.start();
    complete.wait(false);
    thread.stop();
    stop = true;
    line.waker.wake();
    consumer.join();
    require_granted(thread.schedule());
    if (const LedgerCounts counts = line.ledger.cut()[0]; counts.sampled != taken || !counts.balanced()) {
        throw std::runtime_error("sampler: the device produced " + std::to_string(counts.sampled) +
                                 " samples, the queue delivered " + std::to_string(taken));
    }
    return record;
}

constexpr std::array<TickEngine, 3> tick_engines{
    {{"sampler", run_sampler}, {"bare", run_bare}, {"bare 50 us", run_bare_with_slack}}};

constexpr int rate_max = 100'000;                    // the shortest interval of a device
constexpr std::uint64_t run_ticks_max = 10'000'000;  // per engine and run: 80 MB of times
constexpr double one_second_ns = 1e9;
constexpr std::size_t client_count = 4;

struct SamplerOptions {
    std::vector<std::uint32_t> rates{10, 1'000, 10'000};
    std::vector<std::string> loads{"none", "hog", "rest"};
    double seconds = 5;  // per engine and run
    ThreadSchedule schedule;
};

constexpr std::array<std::pair<const char*, double>, 4> figures{
    {{"p50", 0.5}, {"p99", 0.99}, {"p99.9", 0.999}, {"max", 1.0}}};

/// Load on the machine: "none"; "hog", a busy thread per processor; "rest", a gateway in this process and four clients
/// that request /status continuously.
///
/// Threads: its own, with the default schedule; otherwise one. Limits: one thread per processor, or four clients.
/// Failure: the constructor throws as Gateway's, stop() throws std::runtime_error if a request failed.
class TickLoad {
  public:
    explicit TickLoad(const std::string& name) {
        if (name == "rest") {
            rest_ = std::make_unique<RestGateway>();
            clients_ = std::make_unique<StatusClients>(rest_->gateway.rest_address(), client_count);
        }
        const unsigned processors = std::max(std::thread::hardware_concurrency(), 1U);
        for (unsigned hog = 0; name == "hog" && hog < processors; ++hog) {
            hogs_.emplace_back([](const std::stop_token& stop) {
                while (!stop.stop_requested()) {
                }
            });
        }
    }

    /// Ends the load and returns the number of responses, which is 0 except for "rest".
    [[nodiscard]] std::size_t stop() {
        hogs_.clear();
        return clients_ == nullptr ? 0 : clients_->stop().size();
    }

  private:
    std::unique_ptr<RestGateway> rest_;
    std::unique_ptr<StatusClients> clients_;
    std::vector<std::jthread> hogs_;
};

[[nodiscard]] std::string cell_name(const std::string& load, std::uint32_t rate) {
    return std::to_string(rate) + " Hz, " + (load == "none" ? "alone" : load) + ": ";
}

/// Runs all engines once under a load. Returns the responses of the REST server.
std::size_t run_all(Report& report, const std::string& name, const std::string& load, const TickWork& work) {
    TickLoad running(load);
    for (const TickEngine& engine : tick_engines) {
        const TickRecord record = engine.run(work);
        for (const auto& [figure, share] : figures) {
            report.add(name + engine.name + ", " + figure, record.lateness_at(share));
        }
        report.add(name + engine.name + ", missed", static_cast<double>(record.missed()));
    }
    return running.stop();
}

/// Adds the ratio of the sampler to the better minimal loop of each run.
void add_ratio(Report& report, const std::string& name, const std::string& figure, const Goal& goal) {
    const auto row = [&](const std::string& engine) {
        return find_row(report.rows, name + engine + ", " + figure);
    };
    Row best = *row("bare");
    std::ranges::transform(best.values, row("bare 50 us")->values, best.values.begin(), std::ranges::min);
    report.add_ratio(name + figure, row("sampler"), &best, goal);
}

Report measure(const SamplerOptions& options, std::size_t runs) {
    Report report{"sampler", "ns late, or ticks missed"};
    report.ratios_heading = "ratio: sampler / better bare loop, run by run";
    std::size_t responses = 0;
    double rest_seconds = 0;
    for (std::size_t run = 0; run < runs; ++run) {
        for (const std::string& load : options.loads) {
            for (const std::uint32_t rate : options.rates) {
                show_run(run, runs, std::to_string(rate) + " Hz, load " + load);
                const auto ticks = static_cast<std::uint64_t>(std::ceil(options.seconds * rate));
                const TickWork work{Duration(std::llround(one_second_ns / rate)), ticks, options.schedule};
                const auto begin = std::chrono::steady_clock::now();
                responses += run_all(report, cell_name(load, rate), load, work);
                const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
                rest_seconds += load == "rest" ? time.count() : 0;
            }
        }
    }
    for (const std::string& load : options.loads) {
        for (const std::uint32_t rate : options.rates) {
            const bool has_goal = rate == 1'000 && load == "none";
            add_ratio(report, cell_name(load, rate), "p50", {});
            add_ratio(report, cell_name(load, rate), "p99", has_goal ? Goal::at_most(1.2) : Goal{});
        }
    }
    if (responses > 0) {
        const double rate = static_cast<double>(responses) / rest_seconds;
        report.parameters.emplace_back("rest", "GET /status by 4 clients of this process, " +
                                                   std::to_string(std::llround(rate)) + " responses per second");
    }
    return report;
}

void add_options(CLI::App& app, SamplerOptions& chosen) {
    add_list(app, "--rate", chosen.rates, "Ticks per second, separated by commas")->check(CLI::Range(1, rate_max));
    add_list(app, "--load", chosen.loads, "Load, separated by commas: none, busy threads, a busy REST server")
        ->check(CLI::IsMember({"none", "hog", "rest"}));
    app.add_option("--seconds", chosen.seconds, "Seconds per engine and run")->check(CLI::Range(0.05, 3'600.0));
    app.add_option("--realtime-priority", chosen.schedule.realtime_priority, "Priority of the measured thread")
        ->check(CLI::Range(0, ThreadSchedule::realtime_priority_max));
    add_list(app, "--cpu-affinity", chosen.schedule.processors, "Processors of the measured thread")
        ->check(CLI::Range(0U, processor_count() - 1));
    app.callback([&chosen] {
        if (chosen.seconds * std::ranges::max(chosen.rates) > static_cast<double>(run_ticks_max)) {
            throw CLI::ValidationError("--seconds", "a run has at most " + std::to_string(run_ticks_max) + " ticks");
        }
    });
}

}  // namespace

Command::Action describe_sampler_command(CLI::App& app) {
    return make_action<SamplerOptions>(app, add_options, measure);
}

}  // namespace telegate::perf
