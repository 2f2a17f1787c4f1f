#include "fleet_run.hpp"

#include "footprint/end_in_order.hpp"
#include "footprint/gateway_process.hpp"
#include "footprint/process_memory.hpp"
#include "footprint/scratch_folder.hpp"
#include "footprint/visitors.hpp"
#include "silent_peer.hpp"
#include "thread_figures.hpp"

#include <chrono>
#include <stdexcept>
#include <vector>

namespace telegate::perf {

namespace {

/// A run of which this is not true has no figures.
void require(bool right, const std::string& what) {
    if (!right) {
        throw std::runtime_error(what);
    }
}

void check(const FleetWork& work, const FleetFigures& figures, const SilentPeer& peer) {
    const FleetStatus& status = figures.status;
    require(status.devices == work.fleet.devices, "/status has " + std::to_string(status.devices) + " of " +
                                                      std::to_string(work.fleet.devices) + " devices that answer");
    require(status.reads_failed == 0,
            std::to_string(status.reads_failed) + " readings of devices that answer have failed");
    require(peer.accepted() >= work.hung, "only " + std::to_string(peer.accepted()) + " connections came for " +
                                              std::to_string(work.hung) + " devices that hang");
    require(figures.samples > 0, "the subscribers saw no sample");
}

/// Processor, memory and what subscribers saw, of the time that is measured.
FleetFigures measure_running(const FleetWork& work, pid_t gateway, const Crowd& crowd) {
    using Clock = std::chrono::steady_clock;
    constexpr double percent_per_ns = 100 / 1e9;
    constexpr double kib_per_mib = 1'024;
    const std::vector<ThreadFigures> before = threads_of(gateway);
    const std::uint64_t seen_before = crowd.messages();
    const auto begin = Clock::now();
    let_pass(work.seconds);
    const std::chrono::duration<double> time = Clock::now() - begin;
    const std::vector<ThreadFigures> after = threads_of(gateway);
    const auto seen = static_cast<double>(crowd.messages() - seen_before);
    FleetFigures figures;
    figures.cpu_percent = static_cast<double>(since(before, after, "").cpu_ns) * percent_per_ns / time.count();
    figures.cpu_sampling_percent =
        static_cast<double>(since(before, after, "tg-sample").cpu_ns) * percent_per_ns / time.count();
    figures.resident_mib = static_cast<double>(memory_of(gateway).resident_kib) / kib_per_mib;
    figures.samples = seen / time.count() / static_cast<double>(work.fleet.subscribers);
    return figures;
}

}  // namespace

FleetFigures run_fleet(const FleetWork& work) {
    const EndInOrder end_in_order;
    const SilentPeer peer;
    const ScratchFolder folder;
    const std::string config = folder.write("gateway.ini", fleet_settings(work.fleet, work.hung, peer.port()));
    GatewayProcess gateway({work.program, config, {}});
    const Crowd crowd(gateway.endpoints().at(0), work.fleet.subscribers);
    let_pass(work.warm_up_seconds);
    FleetFigures figures = measure_running(work, gateway.id(), crowd);
    figures.status = read_fleet_status(status_at(gateway.rest_address()));
    check(work, figures, peer);
    (void)gateway.stop();
    return figures;
}

}  // namespace telegate::perf
