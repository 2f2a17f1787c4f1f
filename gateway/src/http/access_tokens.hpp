#pragma once

#include "http/http_message.hpp"

#include <array>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace telegate {

/// The faults of a token file: one per invalid line, each with file and line number.
class TokensError : public std::runtime_error {
  public:
    explicit TokensError(std::vector<std::string> faults);
    [[nodiscard]] const std::vector<std::string>& faults() const noexcept { return faults_; }

  private:
    std::vector<std::string> faults_;
};

/// The access tokens for REST and the role of each. Loaded from a file with lines `ROLE NAME TOKEN`; empty lines and
/// lines that begin with # are ignored.
///
/// Threads: find() any.
/// Limits: tokens_max lines, tokens of token_bytes_min to token_bytes_max bytes, names of up to name_bytes_max bytes.
/// Failure: load() throws TokensError. Its faults say what is allowed but never contain a token; they are the first
/// faults_max and the number of the remaining ones.
class AccessTokens {
  public:
    static constexpr std::size_t tokens_max = 256;
    static constexpr std::size_t token_bytes_min = 16;  // shorter tokens could be guessed
    static constexpr std::size_t token_bytes_max = 256;
    static constexpr std::size_t name_bytes_max = 64;
    static constexpr std::size_t faults_max = 20;

    struct Holder {
        HttpRole role;
        std::string name;
    };

    /// Loads the token file. `path` is resolved by credential_path().
    [[nodiscard]] static AccessTokens load(const std::string& path);
    /// Returns the holder of the token, or nullptr if no holder has it. Runs in constant time with respect to the
    /// tokens.
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

    Digest key_{};  // key of the digests, random for each object
    std::vector<Entry> entries_;
};

}  // namespace telegate
