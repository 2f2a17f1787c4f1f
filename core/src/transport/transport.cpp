#include "transport/transport.hpp"

#include <array>
#include <cerrno>
#include <cstddef>
#include <system_error>
#include <utility>

namespace telegate {
namespace transport {

extern const TransportRow inproc_row;
extern const TransportRow ipc_row;
extern const TransportRow tcp_row;

namespace {

constexpr std::array rows{&tcp_row, &ipc_row, &inproc_row};  // in the order of Transport
constexpr std::string_view separator = "://";

const TransportRow& row_of(Transport transport) noexcept {
    return *rows[static_cast<std::size_t>(transport)];
}

}  // namespace

std::unique_ptr<Listener> listen(Reactor& reactor, const Endpoint& endpoint, const SocketOptions& options,
                                 ListenerEvents events) {
    return row_of(endpoint.transport).listen(reactor, endpoint, options, std::move(events));
}

std::unique_ptr<Listener> adopt(Reactor& reactor, const Endpoint& endpoint, UniqueFd descriptor,
                                ListenerEvents events) {
    const auto adopt_here = row_of(endpoint.transport).adopt;
    if (adopt_here == nullptr) {
        throw_at(EINVAL, endpoint);
    }
    return adopt_here(reactor, endpoint, std::move(descriptor), std::move(events));
}

std::unique_ptr<Connector> connect(Reactor& reactor, const Endpoint& endpoint, OnConnected on_connected) {
    return row_of(endpoint.transport).connect(reactor, endpoint, std::move(on_connected));
}

void throw_at(int error, const Endpoint& endpoint) {
    throw std::system_error(error, std::generic_category(), to_string(endpoint));
}

}  // namespace transport

std::string_view to_string(Transport transport) noexcept {
    return transport::row_of(transport).name;
}

bool stays_in_process(Transport transport) noexcept {
    return transport::row_of(transport).stays_in_process;
}

std::variant<Endpoint, EndpointFault> parse_endpoint(std::string_view text) {
    for (const transport::TransportRow* row : transport::rows) {
        if (text.starts_with(row->name) && text.substr(row->name.size()).starts_with(transport::separator)) {
            return row->parse(text.substr(row->name.size() + transport::separator.size()));
        }
    }
    return EndpointFault{"unknown transport: must begin with tcp://, ipc:// or inproc://"};
}

std::string to_string(const Endpoint& endpoint) {
    const transport::TransportRow& row = transport::row_of(endpoint.transport);
    return std::string(row.name).append(transport::separator).append(row.text(endpoint));
}

bool is_any(const Endpoint& endpoint) noexcept {
    return transport::row_of(endpoint.transport).is_any(endpoint);
}

bool may_conflict(const Endpoint& bound, const Endpoint& wanted) noexcept {
    return bound.transport == wanted.transport && bound.port == wanted.port && bound.path == wanted.path;
}

}  // namespace telegate
