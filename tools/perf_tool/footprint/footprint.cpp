#include "footprint.hpp"

#include "allocation_counts.hpp"
#include "end_in_order.hpp"
#include "gateway_process.hpp"
#include "scratch_folder.hpp"
#include "thread_figures.hpp"
#include "visitors.hpp"

#include "core/unique_fd.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>

#include <chrono>
#include <cmath>
#include <cstring>
#include <memory>
#include <regex>
#include <stdexcept>

namespace telegate::perf {

namespace {

/// The counts of the process that was started with the library; all zero while it has none, as when it is linked
/// without shared libraries.
class AllocationFile {
  public:
    explicit AllocationFile(const std::string& path) : file_(::open(path.c_str(), O_RDWR | O_CLOEXEC)) {
        void* const shared = ::mmap(nullptr, sizeof(AllocationCounts), PROT_READ, MAP_SHARED, file_.get(), 0);
        if (shared == MAP_FAILED) {
            throw std::runtime_error("cannot map " + path);
        }
        counts_ = static_cast<const AllocationCounts*>(shared);
    }
    ~AllocationFile() { ::munmap(const_cast<AllocationCounts*>(counts_), sizeof(AllocationCounts)); }
    AllocationFile(const AllocationFile&) = delete;
    AllocationFile& operator=(const AllocationFile&) = delete;

    [[nodiscard]] std::uint64_t calls() const noexcept { return counts_->calls.load(std::memory_order_relaxed); }

  private:
    const UniqueFd file_;
    const AllocationCounts* counts_ = nullptr;
};

/// A started gateway with everybody who visits it.
class Stage {
  public:
    Stage(const Scenario& scenario, GatewayProcess::Setup setup) : gateway_(with_settings(scenario, std::move(setup))) {
        if (scenario.subscribers > 0) {
            crowd_ = std::make_unique<Crowd>(gateway_.endpoints().at(0), scenario.subscribers);
        }
        if (scenario.polls_per_second > 0) {
            constexpr std::chrono::nanoseconds second = std::chrono::seconds(1);
            poller_ = std::make_unique<StatusPoller>(gateway_.rest_address(),
                                                     second / static_cast<std::int64_t>(scenario.polls_per_second));
        }
    }

    [[nodiscard]] pid_t id() const noexcept { return gateway_.id(); }
    /// The visitors leave, then the gateway stops.
    std::string stop(std::vector<double>& status_us) {
        if (poller_ != nullptr) {
            status_us = poller_->stop();
        }
        crowd_.reset();
        return gateway_.stop();
    }
    [[nodiscard]] const ScratchFolder& folder() const noexcept { return folder_; }

  private:
    GatewayProcess::Setup with_settings(const Scenario& scenario, GatewayProcess::Setup setup) const {
        std::string text = text_of(scenario.config);
        if (text.empty()) {
            throw std::runtime_error("cannot read " + scenario.config);
        }
        if (text.back() != '\n') {
            text += '\n';
        }
        text += scenario.more;
        setup.config = folder_.write("gateway.ini", scratch_settings(text, scenario.changes, folder_.path()));
        return setup;
    }

    const ScratchFolder folder_;
    GatewayProcess gateway_;
    std::unique_ptr<Crowd> crowd_;
    std::unique_ptr<StatusPoller> poller_;
};

/// The sum of what the books say of `key` at the end, over all devices.
double in_books(const std::string& log, const std::string& key) {
    const std::regex entry(" " + key + "=(\\d+)");
    double sum = 0;
    for (std::size_t at = log.find(" books device="); at != std::string::npos;
         at = log.find(" books device=", at + 1)) {
        std::smatch found;
        const std::string line = log.substr(at, log.find('\n', at) - at);
        sum += std::regex_search(line, found, entry) ? std::stod(found[1]) : 0;
    }
    return sum;
}

void measure_running(const FootprintWork& work, const Scenario& scenario, Footprint& footprint) {
    using Clock = std::chrono::steady_clock;
    Stage stage(scenario, {work.program, "", {}});
    const auto started = Clock::now();
    let_pass(work.warm_up_seconds);
    const std::vector<ThreadFigures> before = threads_of(stage.id());
    const auto begin = Clock::now();
    let_pass(work.seconds);
    const std::chrono::duration<double> time = Clock::now() - begin;
    const std::vector<ThreadFigures> after = threads_of(stage.id());
    const ThreadFigures all = since(before, after, "");
    footprint.memory = memory_of(stage.id());
    footprint.threads = after.size();
    constexpr double percent_per_ns = 100 / 1e9;
    footprint.cpu_percent = static_cast<double>(all.cpu_ns) * percent_per_ns / time.count();
    footprint.wake_ups = static_cast<double>(all.wake_ups) / time.count();
    footprint.switches = static_cast<double>(all.wake_ups + all.cut_offs) / time.count();
    const std::chrono::duration<double> ran = Clock::now() - started;
    const std::string log = stage.stop(footprint.status_us);
    footprint.samples = in_books(log, "sampled") / ran.count();
    footprint.dropped = in_books(log, "dropped_queue_overflow");
}

void count_allocations(const FootprintWork& work, const Scenario& scenario, Footprint& footprint) {
    const ScratchFolder folder;
    const std::string path = folder.write("allocations", std::string(sizeof(AllocationCounts), '\0'));
    const AllocationFile counts(path);
    Stage stage(scenario,
                {work.program,
                 "",
                 {std::string(allocation_file_variable) + "=" + path, "LD_PRELOAD=" + work.allocation_counter}});
    let_pass(work.warm_up_seconds);
    const std::uint64_t before = counts.calls();
    let_pass(work.seconds);
    const std::uint64_t after = counts.calls();
    std::vector<double> ignored;
    stage.stop(ignored);
    if (after > 0) {
        footprint.allocations = static_cast<double>(after - before) / work.seconds;
    }
}

}  // namespace

Footprint measure_footprint(const FootprintWork& work, const Scenario& scenario) {
    const EndInOrder end_in_order;
    Footprint footprint;
    measure_running(work, scenario, footprint);
    if (!work.allocation_counter.empty()) {
        count_allocations(work, scenario, footprint);
    }
    return footprint;
}

}  // namespace telegate::perf
