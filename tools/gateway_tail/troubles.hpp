#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace telegate::tail {

/// Why connections are not made, in the words of who runs this program: each trouble once, until something has changed.
///
/// Threads: one.
/// Limits:  troubles_max are remembered; what is over them is not said.
/// Failure: std::bad_alloc.
class Troubles {
  public:
    enum class Socket : bool { publish, services };

    /// Whether we encrypt (CURVE) on each of the sockets.
    Troubles(bool encrypts_publish, bool encrypts_services) noexcept
        : encrypts_publish_(encrypts_publish), encrypts_services_(encrypts_services) {}

    /// What to say of a handshake that failed, `detail` being the socket's reason; nullopt when it has been said.
    [[nodiscard]] std::optional<std::string> words(Socket socket, std::string_view endpoint, std::string_view detail);
    /// Whether this has not been said yet.
    [[nodiscard]] bool is_new(std::string trouble);
    /// A connection has been made there.
    void forget(std::string_view endpoint);

    static constexpr std::size_t troubles_max = 64;

  private:
    [[nodiscard]] std::string_view in_plain_words(Socket socket, std::string_view detail) const noexcept;

    [[nodiscard]] std::string_view other_mechanism(Socket socket) const noexcept;

    bool encrypts_publish_;
    bool encrypts_services_;
    std::set<std::string> said_;
};

}  // namespace telegate::tail
