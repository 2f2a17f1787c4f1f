#include "plan/plan_sections.hpp"

#include "config/enum_names.hpp"
#include "config/section_problems.hpp"
#include "config/setting_rules.hpp"

#include "uplink/adapter_module.hpp"
#include "uplink/uplink_row.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace telegate {
namespace {

/// Messages that are not acknowledged, and as many bytes that are not written to the connection yet.
constexpr std::size_t window_bytes_min = 2'097'152;

using Order = uplink::UplinkRunner::Order;
constexpr auto orders = enum_names(rules::uplink_orders, {Order::strict, Order::live_first});

/// Checks that the certificate and its key are given together.
void check_tls(const UplinkSettings& uplink, SectionProblems& found) {
    if (uplink.tls_certificate.empty() != uplink.tls_key.empty()) {
        found.add(uplink.tls_key.empty() ? "tls_certificate" : "tls_key",
                  "tls_certificate and tls_key must be given together");
    }
}

UplinkOptions to_options(const UplinkSettings& uplink, SectionProblems& found) {
    UplinkOptions options;
    options.runner.name = uplink.name;
    options.urls = uplink.url;
    options.type_name = uplink.type;
    options.type = uplink::find_uplink_type(uplink.type).plan(uplink, found);
    check_tls(uplink, found);
    try {
        options.module = &uplink::load_adapter_module(uplink.type);
    } catch (const std::runtime_error& error) {
        found.add("type", error.what());
    }
    options.files.credentials.path = uplink.credentials_file;
    options.files.tls_ca.path = uplink.tls_ca;
    options.files.tls_certificate.path = uplink.tls_certificate;
    options.files.tls_key.path = uplink.tls_key;
    options.tls_server_name = uplink.tls_server_name;
    options.messages = {.topics = uplink.topics,
                        .samples_max = static_cast<std::size_t>(uplink.batch_samples),
                        .bytes_max = static_cast<std::size_t>(uplink.batch_bytes),
                        .format = options.type.format.value_or(MessageFormat::json),
                        .subject = options.type.subject};
    options.runner.delivery.acknowledge_max = options.type.acknowledge_max;
    options.runner.delivery.responds_in_order = options.type.responds_in_order;
    options.runner.unsynced = options.type.unsynced;
    options.runner.delivery.messages_max = static_cast<std::size_t>(uplink.window);
    options.runner.delivery.bytes_max = window_bytes_min;
    options.runner.delivery.refusals_max = static_cast<std::uint32_t>(uplink.refusals_max);
    if (uplink.catch_up == 1) {
        found.add("catch_up", "1 never catches up: must be 0, or 2 or more");
    }
    options.runner.rates = {static_cast<double>(uplink.rate_max), static_cast<double>(uplink.catch_up)};
    options.runner.order = orders.value(uplink.order);
    options.runner.ack_grace =
        std::max(std::chrono::milliseconds(uplink.ack_grace_ms), options.type.unsynced);  // the log keeps both
    options.lag_alarm = std::chrono::milliseconds(uplink.lag_alarm_ms);
    return options;
}

}  // namespace

std::vector<UplinkOptions> plan_uplinks(const Settings& settings, std::vector<SettingsProblem>& problems) {
    std::vector<UplinkOptions> all;
    for (const UplinkSettings& uplink : settings.uplinks) {
        SectionProblems found("uplink", uplink, problems);
        if (settings.log.path.empty()) {
            found.add("type", "uplinks deliver the durable log, and there is none: set path in [log]");
        }
        all.push_back(to_options(uplink, found));
    }
    return all;
}

}  // namespace telegate
