#pragma once

#include "http_message.hpp"

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace telegate {

/// Who may do what through REST, by a word that only he knows. From a file with lines `ROLE NAME TOKEN`; empty lines
/// and those that begin with # do not count.
///
/// Threads: find() any.
/// Limits:  tokens_max lines, tokens of token_bytes_min to token_bytes_max bytes, names of name_bytes_max.
/// Failure: load() throws std::runtime_error with the file, the line and what is allowed; never with a token.
class AccessTokens {
  public:
    static constexpr std::size_t tokens_max = 256;
    static constexpr std::size_t token_bytes_min = 16;  // below this, guessing is within reach
    static constexpr std::size_t token_bytes_max = 256;
    static constexpr std::size_t name_bytes_max = 64;

    struct Holder {
        HttpRole role;
        std::string name;
    };

    /// "credential:NAME" is the file NAME in the folder that $CREDENTIALS_DIRECTORY names, as systemd gives it.
    [[nodiscard]] static AccessTokens load(const std::string& path);
    /// nullptr: nobody has this token. How long it takes tells nothing about the tokens.
    [[nodiscard]] const Holder* find(std::string_view token) const noexcept;
    [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }

  private:
    static constexpr std::size_t digest_bytes = 32;
    using Digest = std::array<unsigned char, digest_bytes>;
    struct Entry {
        Holder holder;
        Digest digest;
    };

    AccessTokens();
    void add(std::string_view line);
    [[nodiscard]] Digest digest_of(std::string_view token) const noexcept;

    Digest key_{};  // of the digests, another one each time
    std::vector<Entry> entries_;
};

}  // namespace telegate
