#include "sockets/identity.hpp"

#include "core/endian.hpp"
#include "core/limits.hpp"

#include <cstddef>
#include <random>
#include <stdexcept>

namespace telegate {

void check_identity(std::string_view text) {
    if (text.empty() || text.size() > limits::identity_bytes_max || text.front() == '\0') {
        throw std::invalid_argument("identity is " + std::to_string(text.size()) + " bytes" +
                                    (text.starts_with('\0') ? ", the first zero" : "") + "; allowed are 1 to " +
                                    std::to_string(limits::identity_bytes_max) + ", the first not zero");
    }
}

AutomaticIdentities::AutomaticIdentities() : number_(std::random_device()()) {}

std::string AutomaticIdentities::next() {
    std::string identity(1 + sizeof number_, '\0');
    store_big_endian(identity.data() + 1, number_++);
    return identity;
}

}  // namespace telegate
