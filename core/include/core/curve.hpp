#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

/// CURVE (RFC 25 and 26): who may talk, and keys to prove it. Keys are written in Z85, 40 characters, as
/// zmq_curve_keypair() gives them.
namespace telegate {

using CurveKey = std::array<std::byte, 32>;

struct CurveKeyPair {
    CurveKey public_key{};
    CurveKey secret_key{};

    ~CurveKeyPair();  // wipes the secret key
};

/// A new pair. Threads: any. Throws std::runtime_error when the system has no random bytes to give.
[[nodiscard]] CurveKeyPair make_curve_key_pair();
[[nodiscard]] std::string to_z85(const CurveKey& key);
/// nullopt unless `text` is exactly 40 characters of the Z85 alphabet with values that fit.
[[nodiscard]] std::optional<CurveKey> parse_z85(std::string_view text);

/// Which users may own a secret key file and read it.
enum class SecretFile {
    own,         // the user we run as; mode 0600 or 0400
    of_any,      // any user; mode 0600 or 0400. For a check of settings that another user runs
    credential,  // any user, closed to others: a file that systemd passes to this service, for which it may use an ACL
};

/// Reads a secret key file, as save_curve_key_pair() makes it or with the 40 characters alone, and computes the public
/// key.
/// Throws std::runtime_error that names the file, what is wrong and what is allowed: not there, not a regular file, an
/// owner or a mode that `kind` does not allow, not a key.
[[nodiscard]] CurveKeyPair load_curve_secret_key(const std::filesystem::path& file, SecretFile kind = SecretFile::own);
/// Throws like load_curve_secret_key(), but for any owner and mode; and for a file that says it is a secret key.
[[nodiscard]] CurveKey load_curve_public_key(const std::filesystem::path& file);
/// Writes `stem`.secret (mode 0600; a line that says what it is, and the key) and `stem`.public (the key alone); never
/// over an existing file. Throws std::runtime_error.
void save_curve_key_pair(const CurveKeyPair& pair, const std::filesystem::path& stem);

/// The clients that a server lets in: one public key file per client in a directory (NAME.public). Where several files
/// hold the same key, the client has the first of their names.
///
/// Threads: any; a reload is seen by the next handshake.
/// Limits:  curve_clients_max keys.
/// Failure: construction and reload() throw std::runtime_error naming the file; a failed reload changes nothing.
class CurveClients {
  public:
    explicit CurveClients(std::filesystem::path directory);
    ~CurveClients();
    CurveClients(const CurveClients&) = delete;
    CurveClients& operator=(const CurveClients&) = delete;

    void reload();
    [[nodiscard]] bool allows(const CurveKey& key) const { return name_of(key).has_value(); }
    /// NAME of the file that holds the key; nullopt: the client is not let in.
    [[nodiscard]] std::optional<std::string> name_of(const CurveKey& key) const;
    [[nodiscard]] std::size_t size() const;
    /// Whether the same keys are let in by the same names.
    [[nodiscard]] bool is_same_as(const CurveClients& other) const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

/// The side that has a known key. Without `clients` anybody who knows the server's key is let in.
struct CurveServer {
    CurveKeyPair keys;
    std::shared_ptr<const CurveClients> clients;
};

struct CurveClient {
    CurveKeyPair keys;
    CurveKey server_key{};
};

/// Mechanism of a socket: NULL, or CURVE in one of its roles. Over inproc there is none: one process, one owner.
using Security = std::variant<std::monostate, CurveServer, CurveClient>;

}  // namespace telegate
