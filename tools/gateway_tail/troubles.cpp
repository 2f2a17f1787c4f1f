#include "troubles.hpp"

#include <utility>

namespace telegate::tail {

std::string_view Troubles::other_mechanism(Socket socket) const noexcept {
    if (!encrypts_publish_ && !encrypts_services_) {
        return "the gateway requires CURVE: use --curve-server-key";
    }
    if (socket == Socket::services) {
        return encrypts_services_ ? "the services do not use CURVE: use --curve-for publish"
                                  : "the services require CURVE: remove --curve-for";
    }
    return encrypts_publish_ ? "the gateway does not use CURVE: remove --curve-server-key"
                             : "the gateway requires CURVE: remove --curve-for";
}

std::string_view Troubles::in_plain_words(Socket socket, std::string_view detail) const noexcept {
    const bool is_encrypted = socket == Socket::publish ? encrypts_publish_ : encrypts_services_;
    if (detail == "security mechanisms do not match") {
        return other_mechanism(socket);
    }
    if (detail == "peer disconnected" && is_encrypted) {
        return socket == Socket::publish
                   ? "handshake refused: is the key correct?"
                   : "handshake refused: is the key correct? If the services do not use CURVE, use --curve-for "
                     "publish";
    }
    if (detail == "peer disconnected") {
        return "handshake refused: is this a gateway? If it requires CURVE, use --curve-server-key";
    }
    if (detail == "handshake timeout") {
        return is_encrypted ? "no handshake reply: is the key correct?" : "no handshake reply: is this a gateway?";
    }
    if (detail == "socket types do not match") {
        return socket == Socket::publish ? "not a publish endpoint: is this the services endpoint?"
                                         : "not a services endpoint: is this the publish endpoint?";
    }
    return detail;
}

std::optional<std::string> Troubles::words(Socket socket, std::string_view endpoint, std::string_view detail) {
    std::string trouble(endpoint);
    trouble.append(": ").append(in_plain_words(socket, detail));
    return is_new(trouble) ? std::optional(std::move(trouble)) : std::nullopt;
}

bool Troubles::is_new(std::string trouble) {
    return said_.size() < troubles_max && said_.insert(std::move(trouble)).second;
}

void Troubles::forget(std::string_view endpoint) {
    const std::string begin = std::string(endpoint) + ": ";
    std::erase_if(said_, [&begin](const std::string& trouble) { return trouble.starts_with(begin); });
}

}  // namespace telegate::tail
