#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

/// CURVE (RFC 25 and 26): keys, and which clients a server allows. Keys are written in Z85, 40 characters, as returned
/// by zmq_curve_keypair().
namespace telegate {

using CurveKey = std::array<std::byte, 32>;

struct CurveKeyPair {
    CurveKey public_key{};
    CurveKey secret_key{};

    ~CurveKeyPair();  // wipes the secret key
};

/// Generates a key pair. Threads: any. Throws std::runtime_error if the system provides no random bytes.
[[nodiscard]] CurveKeyPair make_curve_key_pair();
[[nodiscard]] std::string to_z85(const CurveKey& key);
/// Parses a key. Returns nullopt unless `text` is exactly 40 characters of the Z85 alphabet with values that fit.
[[nodiscard]] std::optional<CurveKey> parse_z85(std::string_view text);

/// Which owner and mode a secret key file may have.
enum class SecretFile {
    own,         // the effective user; mode 0600 or 0400
    of_any,      // any user; mode 0600 or 0400; for checking settings of a gateway that runs as another user
    credential,  // any user; no access for others; for files that systemd passes to this service, possibly with an ACL
};

/// Reads a secret key file and computes the public key. The file is as written by save_curve_key_pair() or contains
/// only the 40 characters.
/// Throws std::runtime_error that names the file, what is wrong and what is allowed: the file is missing, not a regular
/// file, not a key, or has an owner or mode that `kind` does not allow.
[[nodiscard]] CurveKeyPair load_curve_secret_key(const std::filesystem::path& file, SecretFile kind = SecretFile::own);
/// Reads a public key file with any owner and mode. Throws like load_curve_secret_key(), and if the file is marked as a
/// secret key.
[[nodiscard]] CurveKey load_curve_public_key(const std::filesystem::path& file);
/// Writes `stem`.secret (mode 0600; a line that identifies it, then the key) and `stem`.public (only the key). Never
/// overwrites an existing file. Throws std::runtime_error.
void save_curve_key_pair(const CurveKeyPair& pair, const std::filesystem::path& stem);

/// The clients that a server allows: a directory with one public key file (NAME.public) per client. If several files
/// contain the same key, the client has the name that sorts first.
///
/// Threads: any. The next handshake uses the result of a reload.
/// Limits: curve_clients_max keys.
/// Failure: construction and reload() throw std::runtime_error that names the file; a failed reload changes nothing.
class CurveClients {
  public:
    explicit CurveClients(std::filesystem::path directory);
    ~CurveClients();
    CurveClients(const CurveClients&) = delete;
    CurveClients& operator=(const CurveClients&) = delete;

    /// Reads the directory again.
    void reload();
    [[nodiscard]] bool allows(const CurveKey& key) const { return name_of(key).has_value(); }
    /// Returns NAME of the file that contains the key, or nullopt if the client is not allowed.
    [[nodiscard]] std::optional<std::string> name_of(const CurveKey& key) const;
    [[nodiscard]] std::size_t size() const;
    /// Returns whether both allow the same keys under the same names.
    [[nodiscard]] bool is_same_as(const CurveClients& other) const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

/// The server role, whose public key the clients know. Without `clients`, any client that knows the key is allowed.
struct CurveServer {
    CurveKeyPair keys;
    std::shared_ptr<const CurveClients> clients;
};

struct CurveClient {
    CurveKeyPair keys;
    CurveKey server_key{};
};

/// Mechanism of a socket: NULL, or CURVE in one of its roles. inproc uses none, since it stays within one process.
using Security = std::variant<std::monostate, CurveServer, CurveClient>;

enum class Mechanism : std::uint8_t { null, curve };
/// Returns the mechanism as it is written in a greeting.
[[nodiscard]] constexpr std::string_view to_string(Mechanism mechanism) noexcept {
    switch (mechanism) {
        case Mechanism::null: return "NULL";
        case Mechanism::curve: return "CURVE";
    }
    return "";
}

}  // namespace telegate
