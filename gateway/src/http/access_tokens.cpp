#include "http/access_tokens.hpp"

#include "base/whole_file.hpp"
#include "config/credential_path.hpp"
#include "config/joined.hpp"

#include "core/unique_fd.hpp"

#include <fcntl.h>
#include <sodium.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <system_error>
#include <utility>

namespace telegate {
namespace {

constexpr std::size_t file_bytes_max = 128 * 1024;  // tokens_max lines of the maximum length, plus comments
constexpr std::string_view line_form = "ROLE NAME TOKEN, where ROLE is reader or admin";

[[noreturn]] void fail_to_read_tokens(const std::string& path, int error) {
    throw std::runtime_error(path + ": " + std::generic_category().message(error));
}

std::string read_private(const std::string& path) {
    const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct stat facts {};
    if (file.get() < 0 || ::fstat(file.get(), &facts) != 0) {
        fail_to_read_tokens(path, errno);
    }
    std::string text(file_bytes_max + 1, '\0');
    const ssize_t bytes = ::read(file.get(), text.data(), text.size());
    const int error = errno;
    if (!S_ISREG(facts.st_mode)) {
        throw std::runtime_error(path + ": is not a regular file");
    }
    if (const std::string fault = openness_fault(path, facts.st_mode); !fault.empty()) {
        throw std::runtime_error(fault);
    }
    if (bytes < 0) {
        fail_to_read_tokens(path, error);
    }
    if (static_cast<std::size_t>(bytes) > file_bytes_max) {
        throw std::runtime_error(path + ": too long: must be at most " + std::to_string(file_bytes_max) + " bytes");
    }
    text.resize(static_cast<std::size_t>(bytes));
    return text;
}

std::string_view next_word(std::string_view& line) {
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    const std::string_view word = line.substr(0, line.find_first_of(" \t"));
    line.remove_prefix(word.size());
    return word;
}

std::optional<HttpRole> role_of(std::string_view word) {
    if (word == "reader") {
        return HttpRole::reader;
    }
    return word == "admin" ? std::optional(HttpRole::admin) : std::nullopt;
}

// The characters allowed in a bearer token (RFC 6750); names use the same set, so they are safe in logs.
bool is_word(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               std::string_view("-._~+/=").find(c) != std::string_view::npos;
    });
}

}  // namespace

TokensError::TokensError(std::vector<std::string> faults)
    : std::runtime_error(joined(faults, "; ")), faults_(std::move(faults)) {}

AccessTokens::AccessTokens() {
    if (::sodium_init() < 0) {
        throw std::runtime_error("cannot initialize libsodium");
    }
    ::randombytes_buf(key_.data(), key_.size());
}

AccessTokens AccessTokens::load(const std::string& path) {
    AccessTokens tokens;
    try {
        const std::string file = credential_path(path);
        std::string text = read_private(file);
        tokens.add_all(text, file);
        ::sodium_memzero(text.data(), text.size());
        if (tokens.entries_.empty()) {
            throw std::runtime_error(file + ": contains no tokens: each line must be " + std::string(line_form));
        }
    } catch (const TokensError&) {
        throw;
    } catch (const std::runtime_error& error) {
        throw TokensError({error.what()});
    }
    return tokens;
}

void AccessTokens::add_all(std::string_view text, const std::string& file) {
    std::vector<std::string> faults;
    std::size_t left_out = 0;
    for (std::size_t number = 1; !text.empty(); ++number) {
        std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(line.size() + 1, text.size()));
        line = line.substr(0, line.find_last_not_of(" \t\r") + 1);
        if (line.empty() || line.front() == '#') {
            continue;
        }
        try {
            add(line);
        } catch (const std::runtime_error& error) {
            if (faults.size() < faults_max) {
                faults.push_back(file + ':' + std::to_string(number) + ": " + error.what());
            } else {
                ++left_out;
            }
        }
    }
    if (left_out > 0) {
        faults.push_back(file + ": " + std::to_string(left_out) + " more invalid lines");
    }
    if (!faults.empty()) {
        throw TokensError(std::move(faults));
    }
}

void AccessTokens::add(std::string_view line) {
    const std::optional<HttpRole> role = role_of(next_word(line));
    const std::string name(next_word(line));
    const std::string_view token = next_word(line);
    if (!role || token.empty() || !next_word(line).empty()) {
        throw std::runtime_error("invalid line: must be " + std::string(line_form));
    }
    if (!is_word(name) || name.size() > name_bytes_max) {
        throw std::runtime_error("invalid name: must be 1 to " + std::to_string(name_bytes_max) +
                                 " letters, digits and -._~+/=");
    }
    if (!is_word(token) || token.size() < token_bytes_min || token.size() > token_bytes_max) {
        throw std::runtime_error("invalid token of " + name + ": must be " + std::to_string(token_bytes_min) + " to " +
                                 std::to_string(token_bytes_max) + " letters, digits and -._~+/=");
    }
    if (find(token) != nullptr) {
        throw std::runtime_error("duplicate token: " + name + " and " + find(token)->name + " have the same token");
    }
    if (entries_.size() == tokens_max) {
        throw std::runtime_error("too many tokens: must be at most " + std::to_string(tokens_max));
    }
    entries_.push_back({{*role, name}, digest_of(token)});
}

// Compares every entry, so the time does not depend on the match. Keyed digests keep the comparison time from revealing
// how close a guess was.
const AccessTokens::Holder* AccessTokens::find(std::string_view token) const noexcept {
    const Digest digest = digest_of(token);
    const Holder* found = nullptr;
    for (const Entry& entry : entries_) {
        found = ::sodium_memcmp(entry.digest.data(), digest.data(), digest.size()) == 0 ? &entry.holder : found;
    }
    return found;
}

AccessTokens::Digest AccessTokens::digest_of(std::string_view token) const noexcept {
    Digest digest{};
    const void* const bytes = token.data();
    ::crypto_generichash(digest.data(), digest.size(), static_cast<const unsigned char*>(bytes), token.size(),
                         key_.data(), key_.size());
    return digest;
}

}  // namespace telegate
