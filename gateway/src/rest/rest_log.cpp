#include "encode/time_text.hpp"
#include "rest/rest_refusals.hpp"
#include "rest/rest_route.hpp"
#include "status/status_parts.hpp"

#include "store/segment_directory.hpp"
#include "store/segment_reader.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

namespace telegate {
namespace {

constexpr double seconds_per_day = 86'400;

struct ShownLog {
    std::optional<DurableLogStatus> log;
    double bytes_per_s = 0;
    std::optional<double> seconds_left = std::nullopt;
    std::vector<store::SegmentHead> segments = {};
};

void list_log_report(JsonObject& out, const ShownLog& shown) {
    out.name_schema("LogReport");
    out.object_or_null("log", shown.log, list_log);
    out.add("rate_bytes_per_s", shown.bytes_per_s);
    out.add("bytes_per_day", shown.bytes_per_s * seconds_per_day);
    out.add("seconds_left", shown.seconds_left);
    out.array("segments", shown.segments, [](JsonObject& each, const store::SegmentHead& segment) {
        each.name_schema("LogSegment");
        each.add("first_position", segment.first_position);
        each.add("epoch", segment.epoch_ms);
        each.add("time", to_iso8601(segment.utc_ns));
    });
}

/// Returns the segments, oldest first. Omits segments that are removed meanwhile.
std::vector<store::SegmentHead> segments_in(const std::string& directory) {
    std::vector<store::SegmentHead> segments;
    for (const store::SegmentRef& segment : store::list_segments(store::real_file_system(), directory)) {
        const auto head = store::SegmentReader::head(store::real_file_system(), directory + "/" + segment.name);
        if (head) {
            segments.push_back(*head);
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
    ShownLog shown{.log = call.handlers.log()};
    const DurableLogStatus log = shown.log.value_or(DurableLogStatus{});
    const double uptime_s = to_seconds(call.handlers.uptime());
    shown.bytes_per_s = uptime_s > 0 ? static_cast<double>(log.log.written_bytes) / uptime_s : 0;
    shown.seconds_left = seconds_left(log, shown.bytes_per_s);
    try {
        shown.segments = shown.log ? segments_in(log.path) : std::vector<store::SegmentHead>();
    } catch (const std::system_error& error) {
        if (log.error.empty()) {  // otherwise, the response says why there are none
            return unavailable(call.request, error.what());
        }
    }
    return json_response(list_log_report, shown);
}

constexpr std::array log_route_table{
    RestRoute{.path = "/log",
              .summary = "The durable log: its segments, size, write rate and remaining capacity.",
              .answer_members = members_of<list_log_report, ShownLog>,
              .refusals = {503},
              .answer = get_log},
};

}  // namespace

constinit const std::span<const RestRoute> log_routes = log_route_table;

}  // namespace telegate
