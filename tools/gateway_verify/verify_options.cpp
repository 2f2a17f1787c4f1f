#include "verify_options.hpp"

#include "gateway_log/command_line.hpp"
#include "uplink/server_url.hpp"

#include <stdexcept>
#include <utility>
#include <vector>

namespace telegate::verify_tool {
namespace {

constexpr const char* stream_default = "TELEGATE";

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

log_tool::Parsed<VerifyOptions> parse_verify_options(int argc, const char* const* argv) {
    CLI::App app("Proves that a stream of an uplink, or a log, has or names as missing every sample.");
    log_tool::set_up(app, "gateway_verify");
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
                   "Channel of the stream, by its topic, or channels, by the beginning of their topics and *, such as "
                   "'host/*'; may be repeated (default: all channels)")
        ->type_name("TOPIC")
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
    app.footer(log_tool::exit_codes_text(exit_meanings) +
               "\nExample:\n  gateway_verify nats://127.0.0.1/TELEGATE --expect /var/lib/telegate/log");
    return log_tool::parse_command_line(app, argc, argv, [&] {
        options.channels = log_tool::ChannelFilter(std::move(channels));
        return read_options(source, std::move(options), std::move(details));
    });
}

}  // namespace telegate::verify_tool
