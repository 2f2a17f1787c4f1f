#include "nats/credentials.hpp"

#include <sodium.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <sstream>
#include <stdexcept>
#include <vector>

namespace telegate::uplink {
namespace {

std::vector<std::string> words_of_file(std::string_view text) {
    std::istringstream words{std::string(text)};
    return {std::istream_iterator<std::string>(words), {}};
}

constexpr std::string_view base32_digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
constexpr unsigned bits_per_digit = 5;
constexpr std::size_t seed_digits = 58;

// A seed consists of two bytes with its kind and that of its key, 32 bytes, and a checksum. A public key has one byte
// with its kind.
constexpr std::uint8_t seed_kind = 18U << 3U;  // S
constexpr std::uint8_t user_kind = 20U << 3U;  // U
constexpr std::size_t prefix_bytes = 2;
constexpr std::size_t checksum_bytes = 2;
using Seed = std::array<std::uint8_t, prefix_bytes + crypto_sign_SEEDBYTES + checksum_bytes>;
using PublicKey = std::array<std::uint8_t, 1 + crypto_sign_PUBLICKEYBYTES + checksum_bytes>;

/// CRC-16/XMODEM.
std::uint16_t crc16(std::span<const std::uint8_t> bytes) noexcept {
    constexpr unsigned polynomial = 0x1021;
    unsigned crc = 0;
    for (const std::uint8_t byte : bytes) {
        crc ^= unsigned{byte} << 8U;
        for (int bit = 0; bit < 8; ++bit) {
            crc = ((crc << 1U) ^ ((crc & 0x8000U) != 0 ? polynomial : 0U)) & 0xFFFFU;
        }
    }
    return static_cast<std::uint16_t>(crc);
}

bool decode(std::string_view text, Seed& seed) noexcept {
    unsigned value = 0;
    unsigned bits = 0;
    std::size_t bytes = 0;
    for (const char each : text) {
        const std::size_t digit = base32_digits.find(each);
        if (digit == std::string_view::npos) {
            return false;
        }
        value = (value << bits_per_digit | static_cast<unsigned>(digit)) & 0xFFFFU;
        bits += bits_per_digit;
        if (bits >= 8) {
            bits -= 8;
            seed[bytes++] = static_cast<std::uint8_t>(value >> bits);
        }
    }
    return bytes == seed.size();
}

std::string encode(const PublicKey& key) {
    std::string text;
    unsigned value = 0;
    unsigned bits = 0;
    for (const std::uint8_t byte : key) {
        value = (value << 8U | byte) & 0xFFFFU;
        bits += 8;
        while (bits >= bits_per_digit) {
            bits -= bits_per_digit;
            text += base32_digits[value >> bits & 0x1FU];
        }
    }
    return text;  // 280 bits are 56 digits
}

/// The keys of a seed; the secret one is erased at the end.
struct KeyPair {
    KeyPair() = default;
    ~KeyPair() { ::sodium_memzero(secret.data(), secret.size()); }
    KeyPair(const KeyPair&) = delete;
    KeyPair& operator=(const KeyPair&) = delete;

    /// Returns false if the text is not the seed of a user.
    bool read(std::string_view text) noexcept {
        Seed seed{};
        if (text.size() != seed_digits || !decode(text, seed)) {
            return false;
        }
        const std::size_t checksum_at = seed.size() - checksum_bytes;
        const unsigned checksum = seed[checksum_at] | unsigned{seed[checksum_at + 1]} << 8U;
        const unsigned kind = (seed[0] & 7U) << 5U | seed[1] >> 3U;
        if ((seed[0] & 0xF8U) != seed_kind || kind != user_kind ||
            checksum != crc16(std::span(seed).first(checksum_at))) {
            return false;
        }
        ::crypto_sign_seed_keypair(key.data() + 1, secret.data(), seed.data() + prefix_bytes);
        ::sodium_memzero(seed.data(), seed.size());
        return true;
    }

    PublicKey key{user_kind};
    std::array<std::uint8_t, crypto_sign_SECRETKEYBYTES> secret{};
};

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

std::optional<std::string> nkey_signature(std::string_view seed, std::string_view text) {
    KeyPair keys;
    if (!keys.read(seed)) {
        return std::nullopt;
    }
    std::array<std::uint8_t, crypto_sign_BYTES> signature{};
    ::crypto_sign_detached(signature.data(), nullptr, reinterpret_cast<const std::uint8_t*>(text.data()), text.size(),
                           keys.secret.data());
    constexpr int variant = sodium_base64_VARIANT_URLSAFE_NO_PADDING;
    std::array<char, sodium_base64_ENCODED_LEN(crypto_sign_BYTES, sodium_base64_VARIANT_URLSAFE_NO_PADDING)> base64{};
    ::sodium_bin2base64(base64.data(), base64.size(), signature.data(), signature.size(), variant);
    return base64.data();
}

std::optional<std::string> nkey_public_key(std::string_view text) {
    KeyPair keys;
    if (!keys.read(text)) {
        return std::nullopt;
    }
    PublicKey& key = keys.key;
    const std::uint16_t check = crc16(std::span(key).first(key.size() - checksum_bytes));
    key[key.size() - 2] = static_cast<std::uint8_t>(check & 0xFFU);
    key[key.size() - 1] = static_cast<std::uint8_t>(check >> 8U);
    return encode(key);
}

}  // namespace telegate::uplink
