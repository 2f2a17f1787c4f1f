#include "tail_options.hpp"

#include "option_values.hpp"
#include "sample_text.hpp"
#include "time_words.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <string_view>
#include <utility>

namespace telegate::tail {
namespace {

constexpr const char* program = "gateway_tail";
constexpr std::uint16_t port_max = 65'535;
constexpr const char* times_allowed = "a number with ms, s, m, h or d";
/// Who asks for the last values once, mostly in a script, does not want to wait for a gateway that may never come. A
/// few attempts to connect have room in it.
constexpr std::chrono::milliseconds last_connect_timeout{5'000};

std::string footer() {
    std::string text =
        "TOPIC is a prefix: host/cpu. shows host/cpu.user and host/cpu.system; none shows everything.\n"
        "What is missed is asked for again, whatever the reason; what cannot be had is named at the end.\n\n"
        "Exit codes:\n";
    for (const exit_code::Meaning& meaning : exit_code::meanings) {
        const std::string code = std::to_string(meaning.code);
        text.append("  ").append(code).append(4 - code.size(), ' ').append(meaning.words).append("\n");
    }
    return text + "\nExample:\n  gateway_tail tcp://127.0.0.1:5556 host/ --since 10m";
}

/// What CLI11 fills.
struct Texts {
    std::string endpoint;
    std::string services;
    std::string since;
    std::string duration;
    std::string connect_timeout;
    std::string server_key;
    std::string secret_key_file;
    std::string curve_for = "both";
    std::string count;
    bool json = false;
    bool csv = false;
    bool rate = false;
    bool quiet = false;
    bool no_recover = false;
};

/// An empty value would go unseen as one that is not given: a variable of a script that is not set.
CLI::Option* not_empty(CLI::Option* option, const std::string& allowed) {
    return option->check([allowed](const std::string& text) {
        return text.empty() ? "\"\" is not a value, allowed: " + allowed : std::string();
    });
}

void add_what(CLI::App& app, Texts& texts, TailOptions& options) {
    app.add_option("ENDPOINT", texts.endpoint, "Where the gateway publishes: tcp://HOST:PORT or ipc://PATH")
        ->required();
    app.add_option("TOPIC", options.prefixes, "Prefixes of topics; all if not given");
    not_empty(app.add_option("--since", texts.since,
                             "Begin with what the gateway still has: 10m, or 2026-11-20T23:11:34Z (" +
                                 std::string(time_first) + " to " + std::string(time_last) + ")"),
              "an age or a time")
        ->type_name("AGE|TIME");
    app.add_flag("--last", options.last, "The last value of each topic, then leave");
    app.add_flag("--follow", options.follow, "With --last: go on live");
    not_empty(app.add_option("--count", texts.count, "Leave after so many samples"), "a whole number from 1")
        ->type_name("N");
    not_empty(app.add_option("--duration", texts.duration, "Leave after this time: 10s, 5m"), times_allowed)
        ->type_name("TIME");
}

void add_how(CLI::App& app, Texts& texts, TailOptions& options) {
    CLI::Option* const json = app.add_flag("--json", texts.json, "One JSON object a line, as docs/wire.md has it");
    CLI::Option* const csv = app.add_flag("--csv", texts.csv, "A table with commas, with a head line");
    CLI::Option* const rate =
        app.add_flag("--rate", texts.rate, "No samples but a table, each second: rate, lateness and losses by topic");
    CLI::Option* const quiet = app.add_flag("--quiet", texts.quiet, "No samples, only the summary");
    json->excludes(csv, rate, quiet);
    csv->excludes(rate, quiet);
    rate->excludes(quiet);
    app.add_option("--color", options.color, "auto (on a terminal, unless NO_COLOR is set), always or never")
        ->type_name("WHEN");
    not_empty(app.add_option("--report", options.report, "Write what was received and lost to this file, as JSON"),
              "the path of a file")
        ->type_name("FILE");
}

void add_where(CLI::App& app, Texts& texts) {
    CLI::Option* const services =
        not_empty(app.add_option("--services", texts.services,
                                 "Where the gateway's services are; the next port, or services for pub in an ipc path"),
                  "tcp://HOST:PORT or ipc://PATH")
            ->type_name("ENDPOINT");
    app.add_flag("--no-recover", texts.no_recover, "Ask for nothing again: live only")->excludes(services);
    not_empty(app.add_option("--connect-timeout", texts.connect_timeout,
                             "How long to wait for the gateway at first; for ever, but 5s with --last alone"),
              times_allowed)
        ->type_name("TIME");
    CLI::Option* const server_key = not_empty(app.add_option("--curve-server-key", texts.server_key,
                                                             "CURVE: the gateway's public key, or a file with it"),
                                              "a public key of 40 characters (Z85), or the path of a file with one")
                                        ->type_name("KEY|FILE");
    not_empty(app.add_option("--curve-secret-key-file", texts.secret_key_file,
                             "CURVE: our secret key; a new one if not given"),
              "the path of a file with a secret key, as telegate_keygen makes it")
        ->type_name("FILE")
        ->needs(server_key);
    app.add_option("--curve-for", texts.curve_for,
                   "CURVE: what is encrypted: both, publish or services; the other connection is then plain")
        ->type_name("WHICH")
        ->needs(server_key);
}

CurveKey read_server_key(const std::string& text) {
    const std::optional<CurveKey> key = parse_z85(text);
    return key && !std::filesystem::exists(text) ? *key : load_curve_public_key(text);
}

std::optional<CurveClient> read_curve(const Texts& texts) {
    if (texts.server_key.empty()) {
        return std::nullopt;
    }
    return CurveClient{
        texts.secret_key_file.empty() ? make_curve_key_pair() : load_curve_secret_key(texts.secret_key_file),
        read_server_key(texts.server_key)};
}

std::optional<Endpoint> read_services(const Texts& texts, const Endpoint& publish) {
    if (texts.no_recover) {
        return std::nullopt;
    }
    if (!texts.services.empty()) {
        return read_endpoint("--services", texts.services);
    }
    std::optional<Endpoint> services = default_services(publish);
    if (!services) {
        throw Refusal("--services: needed with " + texts.endpoint +
                      ", since nothing follows from it; or --no-recover for live only");
    }
    return services;
}

void check_together(const Texts& texts, const TailOptions& options) {
    if (options.follow && !options.last) {
        throw Refusal("--follow: goes with --last");
    }
    if (options.last && !texts.since.empty()) {
        throw Refusal("--last: does not go with --since");
    }
    if (texts.no_recover && (options.last || !texts.since.empty())) {
        throw Refusal("--no-recover: does not go with --last and --since, which ask the gateway");
    }
}

void check_curve_for(const std::string& text) {
    if (text != "both" && text != "publish" && text != "services") {
        throw Refusal("--curve-for: \"" + text + "\" is not known, allowed: both, publish, services");
    }
}

void read_texts(const Texts& texts, TailOptions& options) {
    check_together(texts, options);
    check_curve_for(texts.curve_for);
    options.publish = read_endpoint("ENDPOINT", texts.endpoint);
    options.services = read_services(texts, options.publish);
    options.prefixes = read_prefixes(std::move(options.prefixes));
    options.format = texts.json    ? OutputFormat::json
                     : texts.csv   ? OutputFormat::csv
                     : texts.rate  ? OutputFormat::rates
                     : texts.quiet ? OutputFormat::none
                                   : OutputFormat::text;
    read_since(texts.since, options);
    options.count = read_count(texts.count);
    check_color(options.color);
    options.duration = read_duration("--duration", texts.duration);
    options.connect_timeout = read_duration("--connect-timeout", texts.connect_timeout);
    if (options.is_last_only() && !options.connect_timeout) {
        options.connect_timeout = last_connect_timeout;
    }
}

ParsedTailOptions leave(int code, const std::string& output) {
    return {.options = {}, .exit_code = code, .output = output};
}

/// `what` may hold what was given, which may be anything.
ParsedTailOptions refuse(int code, std::string_view what, std::string_view advice = "") {
    std::string output = std::string(program) + ": ";
    append_printable(output, what);
    return leave(code, output.append("\n").append(advice));
}

}  // namespace

std::optional<Endpoint> default_services(const Endpoint& publish) {
    Endpoint services = publish;
    if (publish.transport == Transport::tcp) {
        if (publish.port == port_max) {
            return std::nullopt;
        }
        ++services.port;
        return services;
    }
    for (const std::string_view mark : {"-pub", "/pub"}) {
        const std::size_t at = services.path.rfind(mark);
        if (at != std::string::npos) {
            services.path.replace(at + 1, mark.size() - 1, "services");
            return services;
        }
    }
    return std::nullopt;
}

std::vector<std::string> without_covered(std::vector<std::string> prefixes) {
    if (prefixes.empty()) {
        return {""};
    }
    std::sort(prefixes.begin(), prefixes.end());
    std::vector<std::string> kept;
    for (std::string& prefix : prefixes) {
        if (kept.empty() || !prefix.starts_with(kept.back())) {
            kept.push_back(std::move(prefix));
        }
    }
    return kept;
}

ParsedTailOptions parse_tail_options(int argc, const char* const* argv) {
    CLI::App app("Shows what a Telegate gateway publishes, recovers what was missed, and names what was lost.");
    app.name(program);
    app.footer(footer());
    app.set_version_flag("--version", "telegate " TELEGATE_VERSION, "Print the version and leave");
    app.set_help_flag("-h,--help", "Print this and leave");
    Texts texts;
    TailOptions options;
    add_what(app, texts, options);
    add_how(app, texts, options);
    add_where(app, texts);
    try {
        app.parse(argc, argv);
        read_texts(texts, options);
    } catch (const CLI::CallForHelp&) {
        return leave(exit_code::nothing_lost, app.help());
    } catch (const CLI::CallForVersion&) {
        return leave(exit_code::nothing_lost, "telegate " TELEGATE_VERSION "\n");
    } catch (const std::exception& error) {
        return refuse(exit_code::usage, error.what(), "All options: gateway_tail --help\n");
    }
    try {
        const std::optional<CurveClient> curve = read_curve(texts);
        options.publish_curve = texts.curve_for == "services" ? std::nullopt : curve;
        options.services_curve = texts.curve_for == "publish" ? std::nullopt : curve;
    } catch (const std::exception& error) {
        return refuse(exit_code::no_input, error.what());
    }
    return {.options = std::move(options), .exit_code = exit_code::nothing_lost, .output = ""};
}

}  // namespace telegate::tail
