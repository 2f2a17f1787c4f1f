#include "core/curve.hpp"

#include "base/sodium.hpp"
#include "core/endian.hpp"
#include "core/limits.hpp"
#include "core/unique_fd.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <mutex>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

namespace telegate {

namespace {

constexpr std::size_t key_text_bytes = 40;
/// First line of the secret key files that we write, so that they cannot be mistaken for public keys. No key looks like
/// it, because Z85 has no space.
constexpr std::string_view secret_mark = "# CURVE secret key\n";
/// The mark, a key, and some white space after it.
constexpr std::size_t key_file_bytes_max = 96;

constexpr std::string_view z85_digits =
    "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#";
constexpr std::uint32_t z85_base = 85;
static_assert(z85_digits.size() == z85_base);
// Four bytes are encoded as five digits.
constexpr std::size_t group_bytes = 4;
constexpr std::size_t group_digits = 5;

void write_z85(const CurveKey& key, char* out) noexcept {
    for (std::size_t at = 0; at < key.size(); at += group_bytes) {
        auto value = load_big_endian<std::uint32_t>(key.data() + at);
        for (std::size_t i = group_digits; i > 0; --i) {
            out[i - 1] = z85_digits[value % z85_base];
            value /= z85_base;
        }
        out += group_digits;
    }
}

/// Returns false if `text` has other characters or a value that does not fit.
[[nodiscard]] bool read_z85(std::string_view text, CurveKey& key) noexcept {
    for (std::size_t at = 0; at < key.size(); at += group_bytes) {
        std::uint64_t value = 0;
        for (const char c : text.substr(at / group_bytes * group_digits, group_digits)) {
            const std::size_t digit = z85_digits.find(c);
            if (digit == std::string_view::npos) {
                return false;
            }
            value = value * z85_base + digit;
        }
        if (value > UINT32_MAX) {
            return false;
        }
        for (std::size_t i = group_bytes; i > 0; --i) {
            key[at + i - 1] = static_cast<std::byte>(value & 0xFFU);
            value >>= 8U;
        }
    }
    return true;
}

[[noreturn]] void fail(const std::filesystem::path& file, const std::string& what) {
    throw std::runtime_error(file.string() + ": " + what);
}

[[noreturn]] void fail_with_errno(const std::filesystem::path& file) {
    fail(file, std::generic_category().message(errno));
}

[[nodiscard]] std::string octal(mode_t mode) {
    std::string digits = "0000";
    for (std::size_t i = digits.size(); i > 0; --i) {
        digits[i - 1] = static_cast<char>('0' + (mode & 7U));
        mode >>= 3U;
    }
    return digits;
}

void require_kept_secret(const std::filesystem::path& file, const struct stat& status, SecretFile kind) {
    if (kind == SecretFile::own && status.st_uid != ::geteuid()) {
        fail(file, "owned by uid " + std::to_string(status.st_uid) + "; a secret key must be owned by uid " +
                       std::to_string(::geteuid()) + ", the user that reads it");
    }
    const mode_t mode = status.st_mode & 07777U;
    if (kind == SecretFile::credential && (mode & 07U) != 0) {
        fail(file, "mode " + octal(mode) + "; a credential must not be accessible to other users");
    }
    if (kind != SecretFile::credential && mode != 0600U && mode != 0400U) {
        fail(file, "mode " + octal(mode) + "; a secret key must have mode 0600 or 0400");
    }
}

/// Reads a key. The checks apply to the open file, so that no other file can take its place meanwhile.
/// `secret` nullopt: a public key.
void read_key_file(const std::filesystem::path& file, std::optional<SecretFile> secret, CurveKey& key) {
    // O_NONBLOCK, because opening a pipe would wait for its writer.
    const UniqueFd descriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    struct stat status {};
    if (descriptor.get() < 0 || ::fstat(descriptor.get(), &status) != 0) {
        fail_with_errno(file);
    }
    if (!S_ISREG(status.st_mode)) {
        fail(file, "not a regular file");
    }
    if (secret) {
        require_kept_secret(file, status, *secret);
    }
    Secret<key_file_bytes_max + 1> content;
    const ssize_t got = ::read(descriptor.get(), content.data(), content.size());
    if (got < 0) {
        fail_with_errno(file);
    }
    std::string_view text(reinterpret_cast<const char*>(content.data()), static_cast<std::size_t>(got));
    if (text.starts_with(secret_mark)) {
        if (!secret) {
            fail(file, "contains a secret key; must be a public key");
        }
        text.remove_prefix(secret_mark.size());
    }
    text = text.substr(0, text.find_last_not_of(" \t\r\n") + 1);
    if (static_cast<std::size_t>(got) > key_file_bytes_max || text.size() != key_text_bytes || !read_z85(text, key)) {
        fail(file, "not a key; must contain 40 Z85 characters and nothing else");
    }
}

/// Creates `file` and removes it again unless kept. Threads: one. Limits: none. Failure: throws, naming the file.
class NewFile {
  public:
    NewFile(std::filesystem::path file, mode_t mode)
        : file_(std::move(file)),
          descriptor_(::open(file_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode)) {
        if (descriptor_.get() < 0) {
            fail_with_errno(file_);
        }
    }
    ~NewFile() {
        if (!kept_) {
            ::unlink(file_.c_str());
        }
    }
    NewFile(const NewFile&) = delete;
    NewFile& operator=(const NewFile&) = delete;

    void write_key(std::string_view mark, const CurveKey& key) {
        Secret<secret_mark.size() + key_text_bytes + 1> text;
        char* const begin = reinterpret_cast<char*>(text.data());
        char* const end = std::copy(mark.begin(), mark.end(), begin);
        write_z85(key, end);
        end[key_text_bytes] = '\n';
        const std::size_t bytes = mark.size() + key_text_bytes + 1;
        errno = ENOSPC;  // the reason for a short write
        if (::write(descriptor_.get(), begin, bytes) != static_cast<ssize_t>(bytes) ||
            ::fsync(descriptor_.get()) != 0) {
            fail_with_errno(file_);
        }
    }
    void keep() noexcept { kept_ = true; }

  private:
    const std::filesystem::path file_;
    const UniqueFd descriptor_;
    bool kept_ = false;
};

[[nodiscard]] std::filesystem::path with_ending(const std::filesystem::path& stem, const char* ending) {
    std::filesystem::path file = stem;
    file += ending;
    return file;
}

struct NamedKey {
    CurveKey key;
    std::string name;

    bool operator==(const NamedKey&) const = default;
};

using KeyList = std::vector<NamedKey>;  // sorted, each key once

[[nodiscard]] std::shared_ptr<const KeyList> read_clients(const std::filesystem::path& directory) {
    auto keys = std::make_shared<KeyList>();
    std::error_code error;
    std::filesystem::directory_iterator entry(directory, error);
    for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
        if (entry->path().extension() != ".public") {
            continue;
        }
        if (keys->size() == limits::curve_clients_max) {
            fail(directory, "more than " + std::to_string(limits::curve_clients_max) + " client keys");
        }
        keys->push_back({load_curve_public_key(entry->path()), entry->path().stem().string()});
    }
    if (error) {
        fail(directory, error.message());
    }
    std::sort(keys->begin(), keys->end(),
              [](const NamedKey& a, const NamedKey& b) { return std::tie(a.key, a.name) < std::tie(b.key, b.name); });
    const auto has_same_key = [](const NamedKey& a, const NamedKey& b) {
        return a.key == b.key;
    };
    keys->erase(std::unique(keys->begin(), keys->end(), has_same_key), keys->end());
    return keys;
}

}  // namespace

CurveKeyPair::~CurveKeyPair() {
    ::sodium_memzero(secret_key.data(), secret_key.size());
}

CurveKeyPair make_curve_key_pair() {
    start_sodium();
    CurveKeyPair pair;
    ::crypto_box_keypair(octets(pair.public_key.data()), octets(pair.secret_key.data()));
    return pair;
}

std::string to_z85(const CurveKey& key) {
    std::string text(key_text_bytes, '\0');
    write_z85(key, text.data());
    return text;
}

std::optional<CurveKey> parse_z85(std::string_view text) {
    CurveKey key{};
    if (text.size() != key_text_bytes || !read_z85(text, key)) {
        return std::nullopt;
    }
    return key;
}

CurveKeyPair load_curve_secret_key(const std::filesystem::path& file, SecretFile kind) {
    start_sodium();
    CurveKeyPair pair;
    read_key_file(file, kind, pair.secret_key);
    ::crypto_scalarmult_base(octets(pair.public_key.data()), octets(pair.secret_key.data()));
    return pair;
}

CurveKey load_curve_public_key(const std::filesystem::path& file) {
    CurveKey key{};
    read_key_file(file, std::nullopt, key);
    return key;
}

void save_curve_key_pair(const CurveKeyPair& pair, const std::filesystem::path& stem) {
    NewFile secret_file(with_ending(stem, ".secret"), 0600);
    NewFile public_file(with_ending(stem, ".public"), 0644);
    secret_file.write_key(secret_mark, pair.secret_key);
    public_file.write_key("", pair.public_key);
    secret_file.keep();
    public_file.keep();
}

struct CurveClients::State {
    const std::filesystem::path directory;
    std::mutex reload_mutex;  // one reload at a time, so that the last one to start is the last one to take effect
    mutable std::mutex mutex;
    std::shared_ptr<const KeyList> keys;  // guarded by mutex; the list itself never changes

    [[nodiscard]] std::shared_ptr<const KeyList> current() const {
        const std::lock_guard lock(mutex);
        return keys;
    }
};

CurveClients::CurveClients(std::filesystem::path directory) : state_(new State{std::move(directory), {}, {}, nullptr}) {
    reload();
}

CurveClients::~CurveClients() = default;

void CurveClients::reload() {
    const std::lock_guard reloading(state_->reload_mutex);
    std::shared_ptr<const KeyList> keys = read_clients(state_->directory);
    const std::lock_guard lock(state_->mutex);
    state_->keys.swap(keys);
}

std::optional<std::string> CurveClients::name_of(const CurveKey& key) const {
    const auto keys = state_->current();
    const auto found = std::lower_bound(keys->begin(), keys->end(), key,
                                        [](const NamedKey& each, const CurveKey& wanted) { return each.key < wanted; });
    return found != keys->end() && found->key == key ? std::optional(found->name) : std::nullopt;
}

std::size_t CurveClients::size() const {
    return state_->current()->size();
}

bool CurveClients::is_same_as(const CurveClients& other) const {
    return *state_->current() == *other.state_->current();
}

}  // namespace telegate
