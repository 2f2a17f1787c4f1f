#include "plan/plan.hpp"

#include "config/enum_names.hpp"
#include "config/section_problems.hpp"
#include "config/setting_rules.hpp"
#include "device/common_settings.hpp"
#include "device/driver_row.hpp"
#include "endpoints/publish_curve.hpp"
#include "plan/channel_sections.hpp"
#include "plan/checks.hpp"
#include "plan/plan_sections.hpp"

#include <algorithm>
#include <exception>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

namespace telegate {
namespace {

constexpr auto overflow_policies = enum_names(
    rules::overflow_policies, {OverflowPolicy::drop_oldest, OverflowPolicy::drop_newest, OverflowPolicy::block});
constexpr auto slow_policies =
    enum_names(rules::slow_policies, {SlowPolicy::drop_oldest, SlowPolicy::drop_newest, SlowPolicy::disconnect,
                                      SlowPolicy::block, SlowPolicy::conflate});
constexpr auto log_formats = enum_names(rules::log_formats, {false, true});  // whether lines are JSON

Duration interval_of(const DeviceSettings& device, std::int64_t default_interval_ms) {
    if (device.interval_us > 0) {
        return std::chrono::microseconds(device.interval_us);
    }
    return std::chrono::milliseconds(device.interval_ms > 0 ? device.interval_ms : default_interval_ms);
}

ThreadSchedule to_schedule(const Settings& settings, std::vector<SettingsProblem>& problems) {
    ThreadSchedule schedule;
    schedule.realtime_priority = static_cast<int>(settings.realtime_priority);
    const unsigned count = processor_count();
    SectionProblems found("sampling", settings.places_of("sampling"), {}, problems);
    for (const std::int64_t number : settings.cpu_affinity) {
        if (number >= count) {
            found.add("cpu_affinity", "this machine has no processor " + std::to_string(number) + ": must be 0 to " +
                                          std::to_string(count - 1));
        }
        schedule.processors.push_back(static_cast<unsigned>(number));
    }
    return schedule;
}

/// Returns nullopt after adding a problem, or if the text is known to be invalid.
template <class EndpointSettings>
std::optional<Endpoint> endpoint_of(const char* kind, const EndpointSettings& settings,
                                    std::vector<SettingsProblem>& problems) {
    if (settings.endpoint.empty()) {
        return std::nullopt;
    }
    auto endpoint = parse_endpoint(settings.endpoint);
    if (const auto* fault = std::get_if<EndpointFault>(&endpoint)) {
        SectionProblems(kind, settings, problems)
            .add("endpoint", '"' + settings.endpoint + "\" is not a valid endpoint: " + fault->what);
        return std::nullopt;
    }
    return std::get<Endpoint>(std::move(endpoint));
}

Delivery to_delivery(const PublishSettings& publish) {
    Delivery delivery;
    delivery.policy = slow_policies.value(publish.policy);
    delivery.backlog_bytes_max = static_cast<std::size_t>(publish.backlog_bytes);
    delivery.backlog_age_max = std::chrono::milliseconds(publish.backlog_age);
    return delivery;
}

void plan_endpoints(const Settings& settings, SecretFile secret, Plan& plan, std::vector<SettingsProblem>& problems) {
    for (const PublishSettings& publish : settings.publish) {
        auto curve = read_curve(publish, problems, secret);
        if (auto endpoint = endpoint_of("publish", publish, problems)) {
            plan.publish.push_back({std::move(*endpoint), payload_format_names.value(publish.format), publish.name});
            plan.publish.back().curve = std::move(curve);
            plan.publish.back().delivery = to_delivery(publish);
            plan.publish.back().last_value = publish.last_value;
        }
    }
    for (const ServiceSettings& services : settings.services) {
        auto curve = read_curve(services, problems, secret);
        if (auto endpoint = endpoint_of("services", services, problems)) {
            plan.services.push_back({std::move(*endpoint), services.name, -1, std::move(curve)});
        }
    }
}

std::string duration_text(Duration duration) {
    const auto us = std::chrono::duration_cast<std::chrono::microseconds>(duration).count();
    return us % 1'000 == 0 ? std::to_string(us / 1'000) + " ms" : std::to_string(us) + " us";
}

/// Checks settings of a device that depend on each other.
void check_sampling(const DeviceSettings& device, const DeviceOptions& options,
                    std::vector<SettingsProblem>& problems) {
    SectionProblems found("device", device, problems);
    if (options.offset >= options.interval) {
        found.add("offset_ms", "\"" + ms_text(options.offset) +
                                   "\" is too large: must be less than the interval of the device, which is " +
                                   duration_text(options.interval));
    }
    if (options.breaker.wait > options.breaker.wait_max) {
        found.add("breaker_wait_max_ms", "\"" + ms_text(options.breaker.wait_max) +
                                             "\" is too small: must be at least breaker_wait_ms, which is " +
                                             duration_text(options.breaker.wait));
    }
}

void plan_devices(const Settings& settings, const std::function<bool(const DeviceSettings&)>& keeps_driver, Plan& plan,
                  std::vector<SettingsProblem>& problems) {
    for (const DeviceSettings& device : settings.devices) {
        if (device.driver.empty()) {
            continue;  // already reported
        }
        DeviceOptions options = device_options(settings, device);
        check_sampling(device, options, problems);
        const std::vector<const ChannelSettings*> channels = channels_of(settings, device.name);
        ProcessingPlan processing = plan_processing(channels, problems);
        try {
            const bool keeps = keeps_driver && keeps_driver(device);
            auto driver = keeps ? nullptr : find_driver(device.driver).make(device, channels);
            check_channel_sections({device, channels, processing}, driver.get(), problems);
            plan.devices.push_back({std::move(options), std::move(driver), std::move(processing)});
        } catch (const OptionError& error) {
            add_driver_problem(device, channels, error, problems);
        } catch (const std::exception& error) {
            problems.push_back({device.place, "device \"" + device.name + '"', error.what(), "device." + device.name});
        }
    }
}

/// Returns whether the problem follows from a text that could not be parsed, which is itself reported: the default of
/// the same setting, or a channel whose section has a wrong line.
bool follows_from(const SettingsProblem& problem, const std::vector<SettingsProblem>& of_texts) {
    const bool is_section = problem.key.starts_with("channel \"");
    return std::any_of(of_texts.begin(), of_texts.end(), [&](const SettingsProblem& each) {
        if (is_section) {
            return each.place == problem.place || each.setting.starts_with(problem.setting + '.');
        }
        return each.key == problem.key &&
               (each.place == problem.place || (!problem.setting.empty() && each.setting == problem.setting));
    });
}

/// Adds each text once, because the instances of a template have their warnings on the same line.
void add_setting_warnings(LoadedPlan& loaded) {
    std::set<std::string> texts;
    std::vector<SettingsProblem> warnings = queue_warnings(loaded.settings, loaded.plan);
    std::ranges::move(setting_warnings(loaded.settings), std::back_inserter(warnings));
    for (const SettingsProblem& each : warnings) {
        if (texts.size() < settings_warnings_max && texts.insert(each.text()).second) {
            loaded.warnings.push_back(each.text());
        }
    }
}

}  // namespace

LogOptions log_options(const Settings& settings) {
    return {.level = settings.log_level,
            .is_json = log_formats.value(settings.log_format),
            .file = settings.log_file == "stderr" ? "" : settings.log_file};
}

std::vector<const ChannelSettings*> channels_of(const Settings& settings, std::string_view device) {
    std::vector<const ChannelSettings*> channels;
    for (const ChannelSettings& channel : settings.channels) {
        if (channel.device() == device) {
            channels.push_back(&channel);
        }
    }
    return channels;
}

DeviceOptions device_options(const Settings& settings, const DeviceSettings& device) {
    DeviceOptions options = sampling_of(device);
    options.name = device.name;
    options.interval = interval_of(device, settings.sampling_interval_ms);
    return options;
}

Plan make_plan(const Settings& settings, const std::function<bool(const DeviceSettings&)>& keeps_driver,
               SecretFile secret) {
    Plan plan;
    std::vector<SettingsProblem> problems;
    plan.io_threads = static_cast<std::size_t>(settings.io_threads);
    plan.queue_capacity = static_cast<std::size_t>(settings.queue_size);
    plan.queue_policy = overflow_policies.value(settings.queue_policy);
    plan.sampling_schedule = to_schedule(settings, problems);
    plan.labels = plan_labels(settings, problems);
    plan_endpoints(settings, secret, plan, problems);
    plan.rest = plan_rest(settings, problems);
    check_addresses(settings, problems);
    plan.log = plan_log(settings, problems);
    plan.uplinks = plan_uplinks(settings, problems);
    plan_devices(settings, keeps_driver, plan, problems);
    if (!problems.empty()) {
        throw SettingsError(std::move(problems));
    }
    return plan;
}

LoadedPlan load_plan(const SettingsSources& sources, SecretFile secret) {
    std::vector<SettingsProblem> problems;
    LoadedPlan loaded;
    try {
        LoadedSettings read = load_settings(sources);
        loaded.settings = std::move(read.settings);
        loaded.warnings = std::move(read.warnings);
    } catch (const SettingsError& error) {
        if (error.unreadable()) {
            throw;
        }
        problems = error.problems();
        loaded.settings = error.understood();
    }
    try {
        loaded.plan = make_plan(loaded.settings, {}, secret);
    } catch (const SettingsError& error) {
        const std::vector<SettingsProblem> of_texts = problems;
        std::copy_if(error.problems().begin(), error.problems().end(), std::back_inserter(problems),
                     [&](const SettingsProblem& each) { return !follows_from(each, of_texts); });
    }
    if (!problems.empty()) {
        std::set<std::string> texts;  // the devices of a template have their faults on the same line
        std::erase_if(problems, [&](const SettingsProblem& each) { return !texts.insert(each.text()).second; });
        sort_problems(problems, sources.file);
        throw SettingsError(std::move(problems));
    }
    add_setting_warnings(loaded);
    if (loaded.settings.devices.empty() && loaded.settings.publish.empty()) {
        loaded.warnings.push_back(sources.file +
                                  ": no [device] and no [publish] section: the gateway has nothing to do");
    }
    return loaded;
}

}  // namespace telegate
