#include "troubles.hpp"

#include <utility>

namespace telegate::tail {

std::string_view Troubles::other_mechanism(Socket socket) const noexcept {
    if (!encrypts_publish_ && !encrypts_services_) {
        return "the gateway encrypts (CURVE): give --curve-server-key";
    }
    if (socket == Socket::services) {
        return encrypts_services_ ? "the services do not encrypt (CURVE): give --curve-for publish"
                                  : "the services encrypt (CURVE): leave --curve-for out";
    }
    return encrypts_publish_ ? "the gateway does not encrypt (CURVE): leave --curve-server-key out"
                             : "the gateway encrypts (CURVE): leave --curve-for out";
}

std::string_view Troubles::in_plain_words(Socket socket, std::string_view detail) const noexcept {
    const bool is_encrypted = socket == Socket::publish ? encrypts_publish_ : encrypts_services_;
    if (detail == "another mechanism") {
        return other_mechanism(socket);
    }
    if (detail == "peer left" && is_encrypted) {
        return socket == Socket::publish
                   ? "refused: is the key right?"
                   : "refused: is the key right? If the services do not encrypt, give --curve-for publish";
    }
    if (detail == "peer left") {
        return "refused: is this the gateway? If it encrypts (CURVE), give --curve-server-key";
    }
    if (detail == "no handshake in time") {
        return is_encrypted ? "no answer: is the key right?" : "no answer: is it a gateway?";
    }
    if (detail == "socket types do not match") {
        return socket == Socket::publish ? "no publish endpoint; are the services there?"
                                         : "no services; is the publish endpoint there?";
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
