#include "encode/time_text.hpp"
#include "rest/rest_refusals.hpp"
#include "rest/rest_route.hpp"
#include "status/status_parts.hpp"

#include "store/segment_directory.hpp"
#include "store/segment_reader.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <system_error>

namespace telegate {
namespace {

using Json = nlohmann::ordered_json;

constexpr double seconds_per_day = 86'400;

/// Returns the segments, oldest first. Omits segments that are removed meanwhile.
Json segments_json(const std::string& directory) {
    Json segments = Json::array();
    for (const store::SegmentRef& segment : store::list_segments(store::real_file_system(), directory)) {
        const auto head = store::SegmentReader::head(store::real_file_system(), directory + "/" + segment.name);
        if (head) {
            segments.push_back({{"first_position", head->first_position},
                                {"epoch", head->epoch_ms},
                                {"time", to_iso8601(head->utc_ns)}});
        }
    }
    return segments;
}

/// Returns the time until the log or its disk is full at this rate, in seconds; nullopt: unknown.
std::optional<double> seconds_left(const DurableLogStatus& log, double bytes_per_s) {
    if (bytes_per_s <= 0 || !log.capacity_bytes) {
        return std::nullopt;
    }
    const std::uint64_t left = *log.capacity_bytes - std::min(*log.capacity_bytes, log.log.bytes);
    return static_cast<double>(left) / bytes_per_s;
}

HttpResponse get_log(const RestCall& call) {
    const std::optional<StatusSnapshot> snapshot = call.handlers.snapshot();
    if (!snapshot) {
        return unavailable(call.request, "the gateway did not provide its status in time");
    }
    const DurableLogStatus log = snapshot->log.value_or(DurableLogStatus{});
    const double uptime_s = std::chrono::duration<double>(snapshot->uptime).count();
    const double bytes_per_s = uptime_s > 0 ? static_cast<double>(log.log.written_bytes) / uptime_s : 0;
    const std::optional<double> left = seconds_left(log, bytes_per_s);
    Json segments = Json::array();
    try {
        segments = snapshot->log ? segments_json(log.path) : segments;
    } catch (const std::system_error& error) {
        if (log.error.empty()) {  // otherwise, the response says why there are none
            return unavailable(call.request, error.what());
        }
    }
    const Json json{{"log", snapshot->log ? log_json(log) : Json(nullptr)},
                    {"rate_bytes_per_s", bytes_per_s},
                    {"bytes_per_day", bytes_per_s * seconds_per_day},
                    {"seconds_left", left ? Json(*left) : Json(nullptr)},
                    {"segments", std::move(segments)}};
    return {200, "application/json", json.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n', {}};
}

constexpr std::array log_route_table{
    RestRoute{.path = "/log",
              .summary = "The durable log: its segments, size, write rate and remaining capacity.",
              .gives = gives_json,
              .answer_schema = "LogReport",
              .refusals = may_be_late,
              .answer = get_log},
};

}  // namespace

std::span<const RestRoute> log_routes() noexcept {
    return log_route_table;
}

}  // namespace telegate
