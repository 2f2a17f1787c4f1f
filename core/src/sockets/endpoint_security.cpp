#include "sockets/endpoint_security.hpp"

#include <stdexcept>
#include <utility>
#include <variant>

namespace telegate {

std::shared_ptr<const Security> security_of(const Endpoint& endpoint, Security security) {
    if (stays_in_process(endpoint.transport) && !std::holds_alternative<std::monostate>(security)) {
        throw std::invalid_argument(to_string(endpoint) + ": CURVE is not supported over " +
                                    std::string(to_string(endpoint.transport)));
    }
    return std::make_shared<const Security>(std::move(security));
}

}  // namespace telegate
