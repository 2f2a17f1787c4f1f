#include "uplink_delivery.hpp"

#include "config/payload_format.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace telegate::perf {
namespace {

/// A type of uplink that can be measured.
struct MeasuredType {
    const char* name;
    const char* url;
    Plan (*plan)(const UplinkOptions& options, Report& report);
};
constexpr std::array types{
    MeasuredType{"influxdb", "http://127.0.0.1:8428", plan_influxdb_delivery},
#ifdef TELEGATE_LIBNATS
    MeasuredType{"nats", "nats://127.0.0.1:4222", plan_nats_delivery},
#endif
};

std::vector<std::string> names() {
    std::vector<std::string> all;
    all.reserve(types.size());
    for (const MeasuredType& type : types) {
        all.emplace_back(type.name);
    }
    return all;
}

Plan plan(const UplinkOptions& options, Report& report) {
    const MeasuredType& type = *std::ranges::find(types, options.type, &MeasuredType::name);
    UplinkOptions completed = options;
    completed.url = options.url.empty() ? type.url : options.url;
    return type.plan(completed, report);
}

void add_options(CLI::App& app, UplinkOptions& chosen) {
    app.add_option("type", chosen.type, "Type of the uplink")->check(CLI::IsMember(names()));
    app.add_option("--url", chosen.url,
                   "NATS with JetStream, where a stream TELEGATE_PERF is created (nats://127.0.0.1:4222), or "
                   "VictoriaMetrics (http://127.0.0.1:8428)");
    add_list(app, "--formats", chosen.formats, "Formats of messages to NATS")
        ->check(CLI::IsMember(message_format_names.names));
    app.add_option("--replicas", chosen.replicas, "Replicas of the stream")->check(CLI::Range(1, 5));
    app.add_option("--samples", chosen.samples, "Samples in the log")->check(CLI::Range(1, 1'000'000'000));
    app.add_option("--channels", chosen.channels, "Channels")->check(CLI::Range(1, 65'536));
    app.add_option("--program", chosen.program, "gateway_app");
}

}  // namespace

Planner describe_uplink_command(CLI::App& app) {
    return make_planner<UplinkOptions>(app, add_options, plan);
}

}  // namespace telegate::perf
