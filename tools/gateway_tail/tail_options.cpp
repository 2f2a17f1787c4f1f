#include "tail_options.hpp"

#include "core/text.hpp"
#include "encode/time_text.hpp"
#include "sample_text.hpp"
#include "time_words.hpp"

#include <arpa/inet.h>
#include <net/if.h>
#include <netdb.h>
#include <sys/socket.h>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cctype>
#include <exception>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <utility>
#include <variant>

namespace telegate::tail {
namespace {

/// Parses an endpoint that may have a host name. The sockets accept addresses only.
std::variant<Endpoint, EndpointFault> parse_named(const std::string& text) {
    constexpr std::string_view scheme = "tcp://";
    constexpr std::string_view allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-";
    const std::size_t colon = text.rfind(':');
    if (!text.starts_with(scheme) || colon <= scheme.size()) {
        return parse_endpoint(text);
    }
    const std::string host = text.substr(scheme.size(), colon - scheme.size());
    const bool is_name = host.find_first_not_of(allowed) == std::string::npos &&
                         std::isalpha(static_cast<unsigned char>(host.front())) != 0;
    if (!is_name) {
        return parse_endpoint(text);
    }
    std::variant<Endpoint, EndpointFault> parsed = parse_endpoint("tcp://127.0.0.1" + text.substr(colon));
    if (auto* const endpoint = std::get_if<Endpoint>(&parsed)) {
        endpoint->host = host;
    }
    return parsed;
}

/// Endpoints that another process can connect to.
constexpr const char* endpoints_allowed =
    "tcp://HOST:PORT (HOST is a name or an address such as [::1], PORT is 1 to 65535), "
    "ipc://PATH or ipc://@NAME";

constexpr const char* program = "gateway_tail";
constexpr const char* times_allowed = "a number with ms, s, m, h or d";
/// A one-time query of the last values, often in a script, must not wait for a gateway that never starts. Long enough
/// for a few connection attempts.
constexpr std::chrono::milliseconds last_connect_timeout{5'000};

std::string footer() {
    std::string text =
        "TOPIC is a prefix: host/cpu. matches host/cpu.user and host/cpu.system.\n"
        "Missed samples are requested again from the gateway. Samples that cannot be\n"
        "recovered are reported at the end.\n\n"
        "Exit codes:\n";
    for (const exit_code::Meaning& meaning : exit_code::meanings) {
        const std::string code = std::to_string(meaning.code);
        text.append("  ").append(code).append(4 - code.size(), ' ').append(meaning.words).append("\n");
    }
    return text + "\nExample:\n  gateway_tail tcp://127.0.0.1:5556 host/ --since 10m";
}

/// Filled by CLI11.
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
    bool no_recover = false;
};

/// Rejects an empty value, such as an unset variable in a script, which would otherwise look like an option that was
/// not given.
CLI::Option* not_empty(CLI::Option* option, const std::string& allowed) {
    return option->check([allowed](const std::string& text) {
        return text.empty() ? "invalid value \"\": must be " + allowed : std::string();
    });
}

void add_what(CLI::App& app, Texts& texts, TailOptions& options) {
    app.add_option("ENDPOINT", texts.endpoint, "Publish endpoint of the gateway: tcp://HOST:PORT or ipc://PATH")
        ->required();
    app.add_option("TOPIC", options.prefixes, "Topic prefixes (default: all topics)");
    not_empty(app.add_option("--since", texts.since,
                             "Start with the gateway's history since an age or a time: 10m, or 2026-11-20T23:11:34Z (" +
                                 std::string(time_first) + " to " + std::string(time_last) + ")"),
              "an age or a time")
        ->type_name("AGE|TIME");
    app.add_flag("--last", options.last, "Print the last value of each topic and exit");
    app.add_flag("--follow", options.follow, "With --last: continue with live samples");
    not_empty(app.add_option("--count", texts.count, "Exit after N samples"), "a whole number from 1")->type_name("N");
    not_empty(app.add_option("--duration", texts.duration, "Exit after this time, such as 10s or 5m"), times_allowed)
        ->type_name("TIME");
}

void add_how(CLI::App& app, TailOptions& options) {
    const auto add_format = [&](const char* name, OutputFormat format, const char* words) {
        return app.add_flag_callback(
            name, [&options, format] { options.format = format; }, words);
    };
    CLI::Option* const json =
        add_format("--json", OutputFormat::json, "Print one JSON object per line, as described in docs/wire.md");
    CLI::Option* const csv = add_format("--csv", OutputFormat::csv, "Print comma-separated values with a header line");
    CLI::Option* const quiet = add_format("--quiet", OutputFormat::none, "Print no samples, only the summary");
    json->excludes(csv, quiet);
    csv->excludes(quiet);
    app.add_option("--color", options.color,
                   "Color the output: auto (on a terminal, unless NO_COLOR is set), always or never (default: "
                   "auto)")
        ->type_name("WHEN");
    not_empty(app.add_option("--report", options.report, "Write a JSON report of received and lost samples to FILE"),
              "a file path")
        ->type_name("FILE");
}

void add_where(CLI::App& app, Texts& texts) {
    CLI::Option* const services =
        not_empty(app.add_option("--services", texts.services,
                                 "Services endpoint of the gateway (default: the next port, or \"services\" instead of "
                                 "\"pub\" in an ipc path)"),
                  "tcp://HOST:PORT or ipc://PATH")
            ->type_name("ENDPOINT");
    app.add_flag("--no-recover", texts.no_recover, "Do not recover missed samples")->excludes(services);
    not_empty(app.add_option("--connect-timeout", texts.connect_timeout,
                             "How long to wait for the gateway at first (default: no limit; 5s with --last alone)"),
              times_allowed)
        ->type_name("TIME");
    CLI::Option* const server_key =
        not_empty(app.add_option("--curve-server-key", texts.server_key,
                                 "CURVE: public key of the gateway, or a file that contains it"),
                  "a public key of 40 characters (Z85) or the path of a file that contains one")
            ->type_name("KEY|FILE");
    not_empty(app.add_option("--curve-secret-key-file", texts.secret_key_file,
                             "CURVE: file with the secret key of this client (default: a new key pair)"),
              "the path of a file with a secret key, as written by telegate_keygen")
        ->type_name("FILE")
        ->needs(server_key);
    app.add_option("--curve-for", texts.curve_for,
                   "CURVE: which connections to encrypt: both, publish or services (default: both)")
        ->type_name("WHICH")
        ->needs(server_key);
}

// These functions throw std::invalid_argument. An empty text is an option that was not given.

Endpoint read_endpoint(const std::string& option, const std::string& text) {
    std::variant<Endpoint, EndpointFault> parsed = parse_named(text);
    if (std::holds_alternative<EndpointFault>(parsed)) {
        throw std::invalid_argument(option + ": invalid endpoint \"" + text + "\": must be " + endpoints_allowed);
    }
    Endpoint& endpoint = std::get<Endpoint>(parsed);
    if (is_any(endpoint) || endpoint.host == "*" || stays_in_process(endpoint.transport)) {
        throw std::invalid_argument(option + ": cannot connect to \"" + text + "\": must be " + endpoints_allowed);
    }
    return std::move(endpoint);
}

std::optional<std::chrono::milliseconds> read_duration(const std::string& option, const std::string& text) {
    if (text.empty()) {
        return std::nullopt;
    }
    const std::optional<std::chrono::milliseconds> duration = parse_duration(text);
    if (!duration) {
        throw std::invalid_argument(option + ": invalid duration \"" + text +
                                    "\": must be a number with ms, s, m, h or d, at most 10000d");
    }
    return duration;
}

std::optional<std::uint64_t> read_count(const std::string& text) {
    constexpr std::uint64_t count_max = 1'000'000'000'000'000;
    if (text.empty()) {
        return std::nullopt;
    }
    const std::optional<std::uint64_t> count = parse_number<std::uint64_t>(text);
    if (!count || *count == 0 || *count > count_max) {
        throw std::invalid_argument("--count: invalid count \"" + text + "\": must be a whole number from 1 to " +
                                    std::to_string(count_max));
    }
    return count;
}

void check_color(const std::string& color) {
    if (color != "auto" && color != "always" && color != "never") {
        throw std::invalid_argument("--color: invalid value \"" + color + "\": must be auto, always or never");
    }
}

void read_since(const std::string& text, TailOptions& options) {
    if (text.empty()) {
        return;
    }
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    options.since_now_utc_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
    if (const std::optional<std::chrono::milliseconds> age = parse_duration(text)) {
        options.since = std::to_string(age->count()) + "ms";
        options.since_utc_ns = options.since_now_utc_ns - std::chrono::nanoseconds(*age).count();
        return;
    }
    const std::optional<std::int64_t> time = parse_iso8601(text);
    if (!time && is_year_out_of_range(text)) {
        throw std::invalid_argument("--since: time \"" + text + "\" is out of range: must be " +
                                    std::string(time_first) + " to " + std::string(time_last));
    }
    if (!time) {
        throw std::invalid_argument(
            "--since: invalid age or time \"" + text +
            "\": must be a number with ms, s, m, h or d, or a time such as 2026-11-20T23:11:34Z with "
            "up to nine decimals");
    }
    options.since_utc_ns = *time;
    append_time(options.since, *time, 9);
}

std::vector<std::string> read_prefixes(std::vector<std::string> prefixes) {
    constexpr std::size_t prefix_bytes_max = 256;  // that the services of a gateway accept; topics are shorter
    constexpr std::size_t shown_bytes = 32;
    for (const std::string& prefix : prefixes) {
        if (prefix.size() > prefix_bytes_max) {
            throw std::invalid_argument("TOPIC: prefix is too long: \"" + prefix.substr(0, shown_bytes) + "\"... has " +
                                        std::to_string(prefix.size()) + " bytes; must be at most " +
                                        std::to_string(prefix_bytes_max));
        }
        if (!is_utf8(prefix)) {
            throw std::invalid_argument("TOPIC: invalid UTF-8 \"" + prefix +
                                        "\": must be the beginning of a topic, in UTF-8");
        }
    }
    return without_covered(std::move(prefixes));
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
        throw std::invalid_argument(
            "--services is required with " + texts.endpoint +
            ", because no default can be derived from it; use --no-recover to show live samples only");
    }
    return services;
}

void check_together(const Texts& texts, const TailOptions& options) {
    if (options.follow && !options.last) {
        throw std::invalid_argument("--follow requires --last");
    }
    if (options.last && !texts.since.empty()) {
        throw std::invalid_argument("--last excludes --since");
    }
    if (texts.no_recover && (options.last || !texts.since.empty())) {
        throw std::invalid_argument("--no-recover excludes --last and --since, which query the gateway");
    }
}

void check_curve_for(const std::string& text) {
    if (text != "both" && text != "publish" && text != "services") {
        throw std::invalid_argument("--curve-for: invalid value \"" + text + "\": must be both, publish or services");
    }
}

void read_texts(const Texts& texts, TailOptions& options) {
    check_together(texts, options);
    check_curve_for(texts.curve_for);
    options.publish = read_endpoint("ENDPOINT", texts.endpoint);
    options.services = read_services(texts, options.publish);
    options.prefixes = read_prefixes(std::move(options.prefixes));
    read_since(texts.since, options);
    options.count = read_count(texts.count);
    check_color(options.color);
    options.duration = read_duration("--duration", texts.duration);
    options.connect_timeout = read_duration("--connect-timeout", texts.connect_timeout);
    if (options.is_last_only() && !options.connect_timeout) {
        options.connect_timeout = last_connect_timeout;
    }
}

/// `what` may contain command-line arguments, which may contain any bytes.
ParsedTailOptions refuse(int code, std::string_view what, std::string_view advice = "") {
    std::string output = std::string(program) + ": ";
    append_printable(output, what);
    return {.options = {}, .exit_code = code, .output = output.append("\n").append(advice)};
}

bool is_known_to_sockets(const std::string& host) {
    std::array<unsigned char, sizeof(in6_addr)> address{};
    return host == "localhost" || ::inet_pton(AF_INET, host.c_str(), address.data()) == 1 ||
           host.find(':') != std::string::npos || ::if_nametoindex(host.c_str()) != 0;
}

}  // namespace

std::optional<Endpoint> default_services(const Endpoint& publish) {
    Endpoint services = publish;
    if (publish.port != 0) {
        ++services.port;
        return services.port == 0 ? std::nullopt : std::optional(services);
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
    CLI::App app(
        "Prints the samples that a Telegate gateway publishes, recovers missed samples, and "
        "reports losses.");
    app.name(program);
    app.footer(footer());
    app.set_version_flag("--version", "telegate " TELEGATE_VERSION, "Print the version and exit");
    app.set_help_flag("-h,--help", "Print this help and exit");
    Texts texts;
    TailOptions options;
    add_what(app, texts, options);
    add_how(app, options);
    add_where(app, texts);
    try {
        app.parse(argc, argv);
        read_texts(texts, options);
    } catch (const CLI::CallForHelp&) {
        return {.options = {}, .exit_code = exit_code::nothing_lost, .output = app.help()};
    } catch (const CLI::CallForVersion&) {
        return {.options = {}, .exit_code = exit_code::nothing_lost, .output = "telegate " TELEGATE_VERSION "\n"};
    } catch (const std::exception& error) {
        return refuse(exit_code::usage, error.what(), "Try 'gateway_tail --help' for more information.\n");
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

Endpoint resolved(Endpoint endpoint) {
    if (endpoint.host.empty() || is_known_to_sockets(endpoint.host)) {
        return endpoint;
    }
    addrinfo hints{};
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    const int error = ::getaddrinfo(endpoint.host.c_str(), nullptr, &hints, &found);
    if (error != 0) {
        throw std::runtime_error("cannot resolve \"" + endpoint.host + "\": " + ::gai_strerror(error));
    }
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, &::freeaddrinfo);
    std::array<char, NI_MAXHOST> text{};
    if (::getnameinfo(found->ai_addr, found->ai_addrlen, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST) != 0) {
        throw std::runtime_error("cannot resolve \"" + endpoint.host + "\": no usable address");
    }
    endpoint.host = text.data();
    return endpoint;
}

}  // namespace telegate::tail
