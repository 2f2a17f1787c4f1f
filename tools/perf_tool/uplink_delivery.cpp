#include "uplink_delivery.hpp"

#include "sample_stores.hpp"

#include <httplib.h>
#include <nlohmann/json.hpp>

#include <ctime>
#include <filesystem>
#include <optional>
#include <stdexcept>

namespace telegate::perf {
namespace {

constexpr double poll_seconds = 0.01;
constexpr std::chrono::minutes acknowledgment_time_max{1};  // a full disk cache stalls the server for long

/// Writes the log and returns the number of samples.
std::uint64_t write_log(const UplinkOptions& options, const std::string& directory) {
    std::filesystem::create_directory(directory);
    const auto log = open_log(directory, options.channels);
    std::vector<TelemetrySample> tick_samples(options.channels);
    std::uint64_t written = 0;
    for (std::uint64_t tick = 0; written < options.samples; ++tick, written += tick_samples.size()) {
        make_tick(data_sets().front(), tick, tick_samples);
        log->append(tick_samples);
    }
    log->sync();
    return written;
}

}  // namespace

void Interval::add_to(Report& report, const std::string& table, const std::string& name, const Goal& goal) const {
    const double samples = end.samples - begin.samples;
    const double seconds = std::chrono::duration<double>(end.at - begin.at).count();
    report.add(table, name + ", samples/s", samples / seconds, goal);
    report.add(table, name + ", CPU ns/sample", (end.cpu_ns - begin.cpu_ns) / samples);
}

UplinkLog::UplinkLog(const UplinkOptions& options)
    : options_(options), samples_(write_log(options, folder_.path() + "/log")) {}

Interval UplinkLog::deliver(const std::string& settings) {
    const std::string name = "run" + std::to_string(++runs_);  // has no cursor yet
    const GatewayProcess gateway(
        {options_.program,
         folder_.write(name + ".ini",
                       "[rest]\nlisten = 127.0.0.1:0\n[publish \"tcp\"]\nendpoint = tcp://127.0.0.1:0\n"
                       "[log]\npath = " +
                           folder_.path() + "/log\nfree_bytes_min = 0\n[uplink \"" + name +
                           "\"]\ntype = " + options_.type + '\n' + settings)});
    httplib::Client client("http://" + gateway.rest_address());
    clockid_t clock{};
    checked(-::clock_getcpuclockid(gateway.id(), &clock), "clock_getcpuclockid");
    std::optional<Progress> begin;
    for (Progress last;;) {
        const auto response = client.Get("/uplinks");
        if (!response) {
            throw std::runtime_error("the gateway does not respond: " + httplib::to_string(response.error()));
        }
        const Progress now{nlohmann::json::parse(response->body)["uplinks"][0]["samples"]["acknowledged"],
                           cpu_ns_of(clock)};
        begin = begin || now.samples == 0 ? begin : now;
        if (now.samples >= static_cast<double>(samples_)) {
            if (now.samples == begin->samples) {
                throw std::runtime_error("the delivery was too fast to measure: use more --samples");
            }
            return {*begin, now};
        }
        last = last.samples == now.samples ? last : now;
        if (now.at - last.at > acknowledgment_time_max) {
            throw std::runtime_error("no acknowledgment for a minute");
        }
        wait_seconds(poll_seconds);
    }
}

}  // namespace telegate::perf
