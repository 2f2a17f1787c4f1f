#include "app/command_line.hpp"

#include "base/exit_code.hpp"
#include "config/load.hpp"
#include "config/settings.hpp"
#include "http/http_get.hpp"

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace telegate {
namespace {

std::string health_response(const Settings& settings) {
    constexpr std::string_view target = "/readyz?verbose";
    const RestSettings& rest = settings.rest;
    if (!rest.unix_socket.empty()) {
        return http_get(rest.unix_socket, target);
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
    return http_get(settings.rest_host, static_cast<std::uint16_t>(settings.rest_port), target);
}

}  // namespace

int check_health(const CommandLine& command_line, std::ostream& out, std::ostream& errors) {
    const Settings settings = load_settings(command_line.sources).settings;
    try {
        const std::string response = health_response(settings);
        const std::size_t head_end = response.find("\r\n\r\n");
        if (!response.starts_with("HTTP/1.1 ") || head_end == std::string::npos) {
            throw std::runtime_error("the server is not a gateway");
        }
        const bool is_ready = response.starts_with("HTTP/1.1 200 ");
        return write_out(out, errors, response.substr(head_end + 4), is_ready ? exit_code::ok : exit_code::unavailable);
    } catch (const std::runtime_error& error) {
        errors << "gateway_app: --health: [rest]: " << error.what() << '\n';
        return exit_code::unavailable;
    }
}

}  // namespace telegate
