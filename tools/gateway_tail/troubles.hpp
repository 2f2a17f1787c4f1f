#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace telegate::tail {

/// Reports why connections fail, in terms of the command line. Each problem is reported once until a connection to the
/// endpoint is made.
///
/// Threads: one.
/// Limits: troubles_max problems are remembered; further ones are not reported.
/// Failure: std::bad_alloc.
class Troubles {
  public:
    enum class Socket : bool { publish, services };

    /// The arguments say whether the client uses CURVE on each socket.
    Troubles(bool encrypts_publish, bool encrypts_services) noexcept
        : encrypts_publish_(encrypts_publish), encrypts_services_(encrypts_services) {}

    /// Returns the report for a failed handshake; `detail` is the reason given by the socket. Returns nullopt if it was
    /// already reported.
    [[nodiscard]] std::optional<std::string> words(Socket socket, std::string_view endpoint, std::string_view detail);
    /// Returns whether this problem has not been reported yet.
    [[nodiscard]] bool is_new(std::string trouble);
    /// Forgets the problems of an endpoint. Call it when a connection to it is made.
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
