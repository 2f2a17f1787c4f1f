#pragma once

#include "http/http_message.hpp"

#include <array>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace telegate {

/// What is wrong with a file of tokens: the faults of all its lines, each with file and line.
class TokensError : public std::runtime_error {
  public:
    explicit TokensError(std::vector<std::string> faults);
    [[nodiscard]] const std::vector<std::string>& faults() const noexcept { return faults_; }

  private:
    std::vector<std::string> faults_;
};

/// Who may do what through REST, by a word that only he knows. From a file with lines `ROLE NAME TOKEN`; empty lines
/// and those that begin with # do not count.
///
/// Threads: find() any.
/// Limits:  tokens_max lines, tokens of token_bytes_min to token_bytes_max bytes, names of name_bytes_max.
/// Failure: load() throws TokensError, whose faults say what is allowed and never a token: the first faults_max, and
///          how many more there are.
class AccessTokens {
  public:
    static constexpr std::size_t tokens_max = 256;
    static constexpr std::size_t token_bytes_min = 16;  // below this, guessing is within reach
    static constexpr std::size_t token_bytes_max = 256;
    static constexpr std::size_t name_bytes_max = 64;
    static constexpr std::size_t faults_max = 20;

    struct Holder {
        HttpRole role;
        std::string name;
    };

    /// `path` as credential_path() takes it.
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
    void add_all(std::string_view text, const std::string& file);
    void add(std::string_view line);
    [[nodiscard]] Digest digest_of(std::string_view token) const noexcept;

    Digest key_{};  // of the digests, another one each time
    std::vector<Entry> entries_;
};

}  // namespace telegate
