#include "verify_options.hpp"

#include "gateway_tail/sample_text.hpp"
#include "uplink/nats_address.hpp"

#include <CLI/CLI.hpp>

#include <exception>
#include <stdexcept>
#include <utility>
#include <vector>

namespace telegate::verify_tool {
namespace {

constexpr const char* program_name = "gateway_verify";
constexpr const char* stream_default = "TELEGATE";

std::string exit_codes() {
    std::string text = "Exit codes:\n";
    for (const log_tool::exit_code::Meaning& meaning : exit_meanings) {
        const std::string code = std::to_string(meaning.code);
        text.append("  ").append(code).append(4 - code.size(), ' ').append(meaning.words).append("\n");
    }
    return text + "\nExample:\n  gateway_verify nats://127.0.0.1/TELEGATE --expect /var/lib/telegate/log";
}

/// Parses nats://HOST[:PORT][/STREAM], or the same with tls.
StreamAddress parse_address(const std::string& source) {
    StreamAddress address;
    const std::size_t host = source.find("://") + 3;
    const std::size_t slash = source.find('/', host);
    address.url = source.substr(0, slash);
    address.stream = slash == std::string::npos ? "" : source.substr(slash + 1);
    address.stream = address.stream.empty() ? stream_default : address.stream;
    if (!uplink::parse_nats_url(address.url) || address.stream.find_first_of("/.*> ") != std::string::npos) {
        throw std::invalid_argument("SOURCE: invalid address \"" + source + "\": must be nats://HOST[:PORT][/STREAM]");
    }
    return address;
}

VerifyOptions read_options(const std::string& source, VerifyOptions options, StreamAddress details) {
    if (!source.starts_with("nats://") && !source.starts_with("tls://")) {
        options.directory = source;
        return options;
    }
    if (details.tls_certificate.empty() != details.tls_key.empty()) {
        throw std::invalid_argument("--tls-certificate and --tls-key must be given together");
    }
    const StreamAddress address = parse_address(source);
    details.url = address.url;
    details.stream = address.stream;
    options.stream = std::move(details);
    return options;
}

}  // namespace

ParsedVerifyOptions parse_verify_options(int argc, const char* const* argv) {
    CLI::App app("Proves that a stream of an uplink, or a log, has or names as missing every sample.");
    app.name(program_name);
    app.set_version_flag("--version", "telegate " TELEGATE_VERSION, "Print the version and exit");
    app.set_help_flag("-h,--help", "Print this help and exit");
    VerifyOptions options;
    StreamAddress details;
    std::string source;
    std::vector<std::string> channels;
    app.add_option("SOURCE", source,
                   "nats://HOST[:PORT][/STREAM], or the directory of a log (default: stream TELEGATE)")
        ->required();
    app.add_option(
           "--expect", options.expected_log,
           "Log of the gateway; its last samples must be in the stream, too. Without it, samples after the last "
           "one received are unknown")
        ->type_name("DIR");
    app.add_option("--channel", channels,
                   "Channels of the stream, by a prefix of their topics or a pattern such as 'host/*.user'; may be "
                   "repeated (default: all channels)")
        ->type_name("PREFIX|PATTERN")
        ->expected(1)
        ->take_all();
    app.add_option(
           "--credentials-file", details.credentials_file,
           "File with a token, a user name and a password, the seed of an nkey, or the content of a .creds file")
        ->type_name("FILE");
    app.add_option("--tls-ca", details.tls_ca, "Trusted certificates, in PEM; also turns on TLS")->type_name("FILE");
    app.add_option("--tls-certificate", details.tls_certificate,
                   "Certificate for the server, in PEM, with its chain; also turns on TLS")
        ->type_name("FILE");
    app.add_option("--tls-key", details.tls_key, "Private key of the certificate, in PEM")->type_name("FILE");
    app.add_option("--tls-server-name", details.tls_server_name,
                   "Name that the certificate of the server must have (default: the host in SOURCE)")
        ->type_name("NAME");
    app.add_flag("--json", options.json, "Print a JSON object");
    app.footer(exit_codes());
    try {
        app.parse(argc, argv);
        options.channels = log_tool::ChannelFilter(std::move(channels));
        return {.options = read_options(source, std::move(options), std::move(details)),
                .exit_code = log_tool::exit_code::ok,
                .output = ""};
    } catch (const CLI::CallForHelp&) {
        return {.options = {}, .exit_code = log_tool::exit_code::ok, .output = app.help()};
    } catch (const CLI::CallForVersion&) {
        return {.options = {}, .exit_code = log_tool::exit_code::ok, .output = "telegate " TELEGATE_VERSION "\n"};
    } catch (const std::exception& error) {
        std::string text = std::string(program_name) + ": ";
        tail::append_printable(text, error.what());
        return {.options = {},
                .exit_code = log_tool::exit_code::usage,
                .output = text + "\nTry 'gateway_verify --help' for more information.\n"};
    }
}

}  // namespace telegate::verify_tool
