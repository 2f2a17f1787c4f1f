#include "plan/uplink_plan.hpp"

#include "config/section_problems.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

namespace telegate {
namespace {

/// Messages that are not acknowledged, and as many bytes that are not written to the connection yet.
constexpr std::size_t window_bytes_min = 2'097'152;

UplinkOptions to_options(const UplinkSettings& uplink, SectionProblems& found) {
    UplinkOptions options;
    options.name = uplink.name;
    options.urls = uplink.url;
    for (const std::string& url : uplink.url) {
        if (auto server = uplink::parse_nats_url(url)) {
            options.servers.push_back(std::move(*server));
        } else {
            found.add("url", '"' + url + "\" is not a valid URL: must be nats://HOST or nats://HOST:PORT");
        }
    }
    if (!uplink::is_nats_subject(uplink.subject)) {
        found.add("subject", '"' + uplink.subject +
                                 "\" is not a valid subject: must be words separated by dots, without blanks, * and >");
    }
    options.subject = uplink.subject;
    options.credentials_file = uplink.credentials_file;
    options.messages = {uplink.topics, static_cast<std::size_t>(uplink.batch_samples),
                        static_cast<std::size_t>(uplink.batch_bytes)};
    options.delivery.messages_max = static_cast<std::size_t>(uplink.window);
    options.delivery.bytes_max = window_bytes_min;
    options.delivery.refusals_max = static_cast<std::uint32_t>(uplink.refusals_max);
    if (uplink.catch_up == 1) {
        found.add("catch_up", "1 never catches up: must be 0, or 2 or more");
    }
    options.rates = {static_cast<double>(uplink.rate_max), static_cast<double>(uplink.catch_up)};
    options.ack_grace = std::chrono::milliseconds(uplink.ack_grace_ms);
    options.lag_alarm = std::chrono::milliseconds(uplink.lag_alarm_ms);
    return options;
}

}  // namespace

std::vector<UplinkOptions> plan_uplinks(const Settings& settings, std::vector<SettingsProblem>& problems) {
    std::vector<UplinkOptions> all;
    for (const UplinkSettings& uplink : settings.uplinks) {
        SectionProblems found("uplink." + uplink.name, uplink.places, uplink.place, problems);
        if (settings.log.path.empty()) {
            found.add("type", "uplinks deliver the durable log, and there is none: set path in [log]");
        }
        all.push_back(to_options(uplink, found));
    }
    return all;
}

}  // namespace telegate
