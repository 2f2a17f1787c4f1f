#include "http/http_get.hpp"

#include <boost/asio/basic_socket_iostream.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>

#include <chrono>
#include <cstddef>
#include <ostream>
#include <sstream>
#include <stdexcept>

namespace telegate {
namespace {

namespace asio = boost::asio;

constexpr std::chrono::seconds response_time_max{2};
constexpr std::size_t response_bytes_max = 64 * 1024;

template <class Protocol>
std::string response_of(const typename Protocol::endpoint& server, std::string_view target) {
    asio::basic_socket_iostream<Protocol> stream;
    stream.expires_after(response_time_max);
    stream.connect(server);
    stream << "GET " << target << " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n" << std::flush;
    std::string response(response_bytes_max, '\0');
    stream.read(response.data(), static_cast<std::ptrdiff_t>(response.size()));
    response.resize(static_cast<std::size_t>(stream.gcount()));
    if (const auto error = stream.error(); error && error != asio::error::eof) {
        std::ostringstream text;
        text << server << ": ";
        if (error == asio::error::timed_out || error == asio::error::operation_aborted) {
            text << "no response within " << response_time_max.count() << " s";
        } else {
            text << error.message();
        }
        throw std::runtime_error(text.str());
    }
    return response;
}

}  // namespace

std::string http_get(const std::string& unix_socket, std::string_view target) {
    return response_of<asio::local::stream_protocol>(unix_socket, target);
}

std::string http_get(const std::string& host, std::uint16_t port, std::string_view target) {
    // A server of "localhost" listens on both loopback addresses.
    asio::ip::address address = asio::ip::make_address(host == "localhost" ? "127.0.0.1" : host);
    if (address.is_unspecified()) {
        address = address.is_v4() ? asio::ip::address(asio::ip::address_v4::loopback())
                                  : asio::ip::address(asio::ip::address_v6::loopback());
    }
    return response_of<asio::ip::tcp>({address, port}, target);
}

}  // namespace telegate
