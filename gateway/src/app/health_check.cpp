#include "app/command_line.hpp"

#include "base/exit_code.hpp"
#include "config/load.hpp"
#include "config/settings.hpp"

#include <boost/asio/basic_socket_iostream.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>

#include <chrono>
#include <cstdint>
#include <ostream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace telegate {
namespace {

namespace asio = boost::asio;

constexpr std::chrono::seconds answer_time_max{2};  // the server responds within 0.1 s, whatever else it does
constexpr std::size_t answer_bytes_max = 64 * 1024;
constexpr std::string_view request = "GET /readyz?verbose HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

/// Returns the response of a server, with its head.
template <class Protocol>
std::string response_from(const typename Protocol::endpoint& server) {
    asio::basic_socket_iostream<Protocol> stream;
    stream.expires_after(answer_time_max);
    stream.connect(server);
    stream << request << std::flush;
    std::string response(answer_bytes_max, '\0');
    stream.read(response.data(), static_cast<std::streamsize>(response.size()));
    response.resize(static_cast<std::size_t>(stream.gcount()));
    if (const auto error = stream.error(); error && error != asio::error::eof) {
        throw std::runtime_error(error == asio::error::timed_out || error == asio::error::operation_aborted
                                     ? "no response within " + std::to_string(answer_time_max.count()) + " s"
                                     : error.message());
    }
    return response;
}

std::string response_of(const Settings& settings) {
    const RestSettings& rest = settings.rest;
    if (!rest.unix_socket.empty()) {
        return response_from<asio::local::stream_protocol>(rest.unix_socket);
    }
    if (settings.rest_host.empty()) {
        throw std::runtime_error("the gateway has no REST server; set listen or unix_socket");
    }
    if (!rest.tls_certificate.empty()) {
        throw std::runtime_error("the REST server uses TLS; set unix_socket, which has no TLS");
    }
    if (settings.rest_port == 0) {
        throw std::runtime_error("the port of listen is 0: any free port");
    }
    asio::ip::address host = asio::ip::make_address(settings.rest_host);
    if (host.is_unspecified()) {
        host = host.is_v4() ? asio::ip::address(asio::ip::address_v4::loopback())
                            : asio::ip::address(asio::ip::address_v6::loopback());
    }
    return response_from<asio::ip::tcp>({host, static_cast<std::uint16_t>(settings.rest_port)});
}

}  // namespace

int check_health(const CommandLine& command_line, std::ostream& out, std::ostream& errors) {
    try {
        const std::string response = response_of(load_settings(command_line.sources).settings);
        const std::size_t body = response.find("\r\n\r\n");
        if (!response.starts_with("HTTP/1.1 ") || body == std::string::npos) {
            throw std::runtime_error("the server is not a gateway");
        }
        const bool is_ready = response.starts_with("HTTP/1.1 200 ");
        return write_out(out, errors, response.substr(body + 4), is_ready ? exit_code::ok : exit_code::unavailable);
    } catch (const SettingsError&) {
        throw;
    } catch (const std::runtime_error& error) {
        errors << "gateway_app: --health: [rest]: " << error.what() << '\n';
        return exit_code::unavailable;
    }
}

}  // namespace telegate
