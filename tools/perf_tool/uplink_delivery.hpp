#pragma once

#include "command.hpp"
#include "gateway_process.hpp"
#include "system.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

/// Delivery of a durable log by an uplink, and the same by a plain program.
namespace telegate::perf {

/// The options of the command.
struct UplinkOptions {
    std::string type = "nats";
    std::string url;  // "": the usual one of the type
    std::vector<std::string> formats{"json"};
    std::int64_t replicas = 1;
    std::uint64_t samples = 2'000'000;
    std::size_t channels = 100;
    std::string program = gateway_beside();
};

/// A point in time of a delivery.
struct Progress {
    double samples = 0;
    double cpu_ns = 0;
    std::chrono::steady_clock::time_point at = std::chrono::steady_clock::now();
};

/// The part of a delivery between two points in time.
struct Interval {
    Progress begin;
    Progress end;

    void add_to(Report& report, const std::string& table, const std::string& name, const Goal& goal) const;
};

/// A log that is delivered again and again, by uplinks with different names.
/// Threads: one. Limits: the disk. Failure: throws std::runtime_error.
class UplinkLog {
  public:
    explicit UplinkLog(const UplinkOptions& options);

    [[nodiscard]] std::uint64_t samples() const noexcept { return samples_; }
    /// Runs a gateway until everything is acknowledged. `settings`: lines of the section of the uplink.
    [[nodiscard]] Interval deliver(const std::string& settings);

  private:
    const UplinkOptions options_;
    const ScratchFolder folder_;
    const std::uint64_t samples_;
    std::size_t runs_ = 0;
};

[[nodiscard]] Plan plan_influxdb_delivery(const UplinkOptions& options, Report& report);
[[nodiscard]] Plan plan_nats_delivery(const UplinkOptions& options, Report& report);

}  // namespace telegate::perf
