#include "sockets/endpoint_security.hpp"

#include <stdexcept>
#include <utility>
#include <variant>

namespace telegate {

std::shared_ptr<const Security> security_of(const Endpoint& endpoint, Security security) {
    if (endpoint.transport == Transport::inproc && !std::holds_alternative<std::monostate>(security)) {
        throw std::invalid_argument(to_string(endpoint) + ": no CURVE over inproc, where one process has one owner");
    }
    return std::make_shared<const Security>(std::move(security));
}

}  // namespace telegate
