#include "sockets/identity.hpp"

#include "core/endian.hpp"
#include "core/limits.hpp"

#include <cstddef>
#include <random>
#include <stdexcept>

namespace telegate {

void check_identity(std::string_view text) {
    if (text.empty() || text.size() > limits::identity_bytes_max || text.front() == '\0') {
        throw std::invalid_argument("invalid identity: " + std::to_string(text.size()) + " bytes" +
                                    (text.starts_with('\0') ? ", starting with a zero byte" : "") + "; must be 1 to " +
                                    std::to_string(limits::identity_bytes_max) +
                                    " bytes and must not start with a zero byte");
    }
}

AutomaticIdentities::AutomaticIdentities() : number_(std::random_device()()) {}

std::string AutomaticIdentities::next() {
    std::string identity(1 + sizeof number_, '\0');
    store_big_endian(identity.data() + 1, number_++);
    return identity;
}

}  // namespace telegate
