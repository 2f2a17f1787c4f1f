#include "interop/peer/options.hpp"

#include "core/curve.hpp"

#include <CLI/CLI.hpp>

#include <memory>
#include <stdexcept>
#include <utility>

namespace telegate::test {
namespace {

/// Command-line values before they are interpreted.
struct Words {
    std::vector<std::string> bind;
    std::vector<std::string> connect;
    std::string curve_server;
    std::string curve_clients;
    std::string curve_client;
    std::string server_key;
    long heartbeat_ms = 10'000;
    long heartbeat_timeout_ms = 30'000;
    long handshake_ms = 10'000;
    long deadline_s = 60;
};

std::vector<Endpoint> endpoints(const std::vector<std::string>& texts) {
    std::vector<Endpoint> parsed;
    for (const std::string& text : texts) {
        auto result = parse_endpoint(text);
        if (const auto* fault = std::get_if<EndpointFault>(&result)) {
            throw std::invalid_argument(text + ": " + fault->what);
        }
        parsed.push_back(std::get<Endpoint>(std::move(result)));
    }
    return parsed;
}

Security security(const Words& words) {
    if (!words.curve_server.empty()) {
        CurveServer server{load_curve_secret_key(words.curve_server), nullptr};
        if (!words.curve_clients.empty()) {
            server.clients = std::make_shared<const CurveClients>(words.curve_clients);
        }
        return server;
    }
    if (!words.curve_client.empty()) {
        return CurveClient{load_curve_secret_key(words.curve_client), load_curve_public_key(words.server_key)};
    }
    return {};
}

void add_socket_options(CLI::App& app, PeerOptions& options, Words& words) {
    app.add_option("--bind", words.bind, "Endpoint to bind");
    app.add_option("--connect", words.connect, "Endpoint to connect to");
    app.add_option("--sockets", options.sockets, "Number of sockets, all with the same options");
    app.add_option("--identity", options.socket.identity, "Routing id sent to ROUTER peers");
    app.add_option("--heartbeat-ms", words.heartbeat_ms, "Idle time after which a peer is sent PING; 0: never");
    app.add_option("--heartbeat-timeout-ms", words.heartbeat_timeout_ms,
                   "Idle time after which a peer is disconnected");
    app.add_option("--handshake-ms", words.handshake_ms, "Time limit for a handshake");
    app.add_option("--backlog-bytes", options.socket.backlog_bytes_max, "Maximum number of queued bytes per peer");
    app.add_option("--message-bytes-max", options.socket.message_bytes_max, "Maximum size of an incoming message");
    app.add_option("--curve-server", words.curve_server, "Secret key file of a CURVE server");
    app.add_option("--clients", words.curve_clients, "Directory with the public keys of accepted clients");
    app.add_option("--curve-client", words.curve_client, "Secret key file of a CURVE client");
    app.add_option("--server-key", words.server_key, "Public key file of the CURVE server");
}

void add_traffic_options(CLI::App& app, PeerOptions& options, Words& words) {
    app.add_option("--subscribe", options.subscriptions, "Prefix to subscribe to (sub)");
    app.add_option("--topic", options.topic, "First frame (pub)");
    app.add_option("--size", options.payload_bytes, "Payload size in bytes")->check(CLI::Range(8, 64 * 1024 * 1024));
    app.add_option("--frames", options.frames, "Frames per message (dealer, router)")->check(CLI::Range(1, 1'000));
    app.add_flag("--delimiter", options.delimiter, "Send an empty frame first, for REP (dealer, router)");
    app.add_flag("--echo", options.echo, "Send received messages back (dealer, router)");
    app.add_flag("--lossy", options.lossy, "Do not wait for slow peers (pub, --echo)");
    app.add_option("--alias", options.alias, "Routing id of the peer to connect and send to (router)");
    app.add_option("--deadline-s", words.deadline_s, "Exit after this time");
}

}  // namespace

PeerOptions parse_peer_options(int argc, char** argv) {
    PeerOptions options;
    Words words;
    CLI::App app(
        "A socket of core as a program, for tests in any language. Prints one line of JSON at its "
        "start, for each status, and at its end.");
    app.footer(
        "Commands are read from standard input (a pipe; its end means quit), one per line:\n  "
        "status | send COUNT | rate PER_SECOND | pause | resume | subscribe PREFIX | unsubscribe "
        "PREFIX | quit");
    app.add_option("role", options.role)->required()->check(CLI::IsMember({"pub", "sub", "dealer", "router"}));
    add_socket_options(app, options, words);
    add_traffic_options(app, options, words);
    try {
        app.parse(argc, argv);
    } catch (const CLI::CallForHelp&) {
        throw std::invalid_argument(app.help());
    } catch (const CLI::ParseError& error) {
        throw std::invalid_argument(error.what());
    }
    options.bind = endpoints(words.bind);
    options.connect = endpoints(words.connect);
    options.socket.security = security(words);
    options.socket.heartbeat_interval = std::chrono::milliseconds(words.heartbeat_ms);
    options.socket.heartbeat_timeout = std::chrono::milliseconds(words.heartbeat_timeout_ms);
    options.socket.handshake_time_max = std::chrono::milliseconds(words.handshake_ms);
    options.deadline = std::chrono::seconds(words.deadline_s);
    return options;
}

}  // namespace telegate::test
