#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace telegate::perf {

/// cpp-httplib with its own loop, as its users run it, that answers every GET /status with the same bytes.
///
/// Threads: its own, as many as the library has by default; the rest one.
/// Limits:  those of the library; connections are kept for as long as the clients like.
/// Failure: the constructor throws std::runtime_error when it has no port.
class BareServer {
  public:
    explicit BareServer(std::string body);
    ~BareServer();
    BareServer(const BareServer&) = delete;
    BareServer& operator=(const BareServer&) = delete;

    [[nodiscard]] const std::string& address() const noexcept { return address_; }

  private:
    struct State;
    std::unique_ptr<State> state_;
    std::string address_;
};

}  // namespace telegate::perf
