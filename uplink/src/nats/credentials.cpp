#include "nats/credentials.hpp"

#include "nats/nkey.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <vector>

namespace telegate::uplink {
namespace {

std::vector<std::string> words_of_file(std::string_view text) {
    std::istringstream words{std::string(text)};
    return {std::istream_iterator<std::string>(words), {}};
}

}  // namespace

NatsCredentials read_credentials(std::string_view content, const std::string& path) {
    constexpr std::string_view jwt_line = "BEGIN NATS USER JWT-----";
    const std::vector<std::string> words = words_of_file(content);
    const auto seed = std::find_if(words.begin(), words.end(),
                                   [](const std::string& word) { return nkey_public_key(word).has_value(); });
    if (const std::size_t at = content.find(jwt_line); at != std::string_view::npos && seed != words.end()) {
        const std::vector<std::string> after = words_of_file(content.substr(at + jwt_line.size()));
        return NatsJwt{after.empty() ? "" : after.front(), *seed};
    }
    if (seed != words.end()) {
        return NatsNkey{*nkey_public_key(*seed), *seed};
    }
    if (words.size() == 1) {
        return NatsToken{words[0]};
    }
    if (words.size() == 2) {
        return NatsUser{words[0], words[1]};
    }
    throw std::runtime_error("invalid credentials in " + path +
                             ": must be TOKEN, USER PASSWORD, the seed of an nkey, or the content of a .creds file");
}

}  // namespace telegate::uplink
