#include "command_line.hpp"
#include "commands.hpp"
#include "gateway_tail/time_words.hpp"

#include <algorithm>
#include <stdexcept>

namespace telegate::log_tool {
namespace {

/// Filled by CLI11.
struct Texts {
    std::vector<std::string> channels;
    std::string since;
    std::string until;
    std::string format;
    std::string interval = "1m";
};

std::string footer() {
    return "DIR is the directory of [log] path, or a copy of it. All commands except repair only\n"
           "read, even next to a running gateway.\n\n" +
           exit_codes_text(exit_code::meanings) +
           "\nExample:\n  gateway_log dump /var/lib/telegate/log --channel 'host/*' --since 10m";
}

struct NamedCommand {
    Command command;
    const char* name;
    const char* description;
};

CLI::App& add_command(CLI::App& app, LogOptions& options, const NamedCommand& named) {
    CLI::App* const sub = app.add_subcommand(named.name, named.description);
    sub->add_option("DIR", options.directory, "Directory of the log")->required();
    sub->callback([&options, command = named.command] { options.command = command; });
    return *sub;
}

/// Rejects an empty value, such as an unset variable in a script, which would otherwise look like an option that was
/// not given.
std::string check_not_empty(const std::string& text) {
    return text.empty() ? "invalid value \"\": must not be empty" : "";
}

void add_times(CLI::App& sub, Texts& texts) {
    sub.add_option("--since", texts.since,
                   "Start with samples of this age or time: 10m, or 2026-11-20T23:11:34Z, or with an offset such as "
                   "+01:00")
        ->type_name("AGE|TIME")
        ->check(check_not_empty);
    sub.add_option("--until", texts.until, "Stop before this age or time")
        ->type_name("AGE|TIME")
        ->check(check_not_empty);
}

void add_selection(CLI::App& sub, Texts& texts) {
    sub.add_option(
           "--channel", texts.channels,
           "Channel, by its topic, or channels, by the beginning of their topics and *, such as 'host/*'; may be "
           "repeated (default: all channels)")
        ->type_name("TOPIC")
        ->expected(1)
        ->take_all()
        ->check(check_not_empty);
    add_times(sub, texts);
}

void add_commands(CLI::App& app, Texts& texts, LogOptions& options) {
    CLI::App& list_app = add_command(app, options, {list, "list", "Print one line for each segment file"});
    list_app.add_flag("--json", options.json, "Print one JSON object per line");

    CLI::App& verify_app = add_command(
        app, options,
        {verify, "verify", "Read everything, and check that samples and explained gaps cover all sequence numbers"});
    verify_app.add_flag("--json", options.json, "Print a JSON object");

    CLI::App& dump_app = add_command(app, options, {dump, "dump", "Print samples and gaps as text"});
    add_selection(dump_app, texts);

    CLI::App& file = add_command(app, options, {export_file, "export", "Write samples to a file"});
    file.add_option("--format", texts.format, "csv or json (one object per line)")->required()->type_name("FORMAT");
    file.add_option("--output", options.output, "File to write; - for standard output")->required()->type_name("FILE");
    add_selection(file, texts);

    CLI::App& query_app = add_command(
        app, options, {query, "query", "Print the minimum, maximum, mean and count of a channel for each interval"});
    query_app.add_option("CHANNEL", options.channel, "Topic of the channel, such as host/cpu.user")->required();
    add_times(query_app, texts);
    query_app.add_option("--interval", texts.interval, "Length of an interval, such as 10s or 1h (default: 1m)")
        ->type_name("TIME");
    query_app.add_flag("--json", options.json, "Print one JSON object per line");

    add_command(app, options,
                {repair, "repair",
                 "Seal the last segment, rename unreadable segments and rebuild missing footers; the gateway must be "
                 "stopped"});
}

std::int64_t read_time(const std::string& option, const std::string& text, std::int64_t now_ns) {
    if (const auto time = parse_age_or_time(text, now_ns)) {
        return *time;
    }
    throw std::invalid_argument(option + ": invalid age or time \"" + text +
                                "\": must be a number with ms, s, m, h or d, or a time such as 2026-11-20T23:11:34Z "
                                "from " +
                                std::string(tail::time_first) + " to " + std::string(tail::time_last));
}

ExportFormat read_format(const std::string& text) {
    if (text == "csv") {
        return ExportFormat::csv;
    }
    if (text == "json") {
        return ExportFormat::json;
    }
    throw std::invalid_argument("--format: invalid format \"" + text + "\": must be csv or json");
}

std::chrono::nanoseconds read_interval(const std::string& text) {
    const auto interval = tail::parse_duration(text);
    if (!interval || interval->count() == 0) {
        throw std::invalid_argument("--interval: invalid duration \"" + text +
                                    "\": must be a number with ms, s, m, h or d, at least 1ms");
    }
    return *interval;
}

void read_texts(Texts& texts, std::int64_t now_ns, LogOptions& options) {
    if (options.directory.empty()) {
        throw std::invalid_argument("DIR: must not be empty");
    }
    if (!texts.since.empty()) {
        options.times.since_ns = read_time("--since", texts.since, now_ns);
    }
    if (!texts.until.empty()) {
        options.times.until_ns = read_time("--until", texts.until, now_ns);
    }
    if (options.times.since_ns >= options.times.until_ns) {
        throw std::invalid_argument("--since must be before --until");
    }
    options.channels = ChannelFilter(std::move(texts.channels));
    options.interval = read_interval(texts.interval);
    if (options.command != export_file) {
        return;
    }
    options.format = read_format(texts.format);
    if (options.output.empty()) {
        throw std::invalid_argument("--output: invalid value \"\": must be a file path or -");
    }
}

}  // namespace

bool ChannelFilter::matches(std::string_view pattern, std::string_view topic) {
    return pattern.ends_with('*') ? topic.starts_with(pattern.substr(0, pattern.size() - 1)) : topic == pattern;
}

bool ChannelFilter::matches(std::string_view topic) const {
    return patterns_.empty() || std::any_of(patterns_.begin(), patterns_.end(),
                                            [&](const std::string& pattern) { return matches(pattern, topic); });
}

Parsed<LogOptions> parse_log_options(int argc, const char* const* argv, std::int64_t now_ns) {
    CLI::App app("Inspects, checks, exports and repairs the log of a Telegate gateway.");
    set_up(app, "gateway_log");
    app.require_subcommand(1);
    Texts texts;
    LogOptions options;
    add_commands(app, texts, options);
    app.footer(footer());
    return parse_command_line(app, argc, argv, [&] {
        read_texts(texts, now_ns, options);
        return options;
    });
}

}  // namespace telegate::log_tool
