#pragma once

#include "device/driver_bench.hpp"
#include "device/peer_thread.hpp"
#include "http/http_driver.hpp"
#include "support/eventually.hpp"

#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <array>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace telegate::test {

inline std::string http_answer(std::string_view body, std::string_view fields = "",
                               std::string_view status = "200 OK") {
    return "HTTP/1.1 " + std::string(status) + "\r\n" + std::string(fields) +
           "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + std::string(body);
}

/// Responds to each request with the configured bytes.
class HttpPeer {
  public:
    HttpPeer() {
        thread_.accept_on(
            listener_.descriptor(),
            [this](int descriptor) {
                const std::lock_guard lock(mutex_);
                connection_ = descriptor;
                ++connections_;
                head_.clear();
                return true;
            },
            [this](int descriptor) { return serve(descriptor); });
    }

    void answer(std::string bytes, bool closes = false) {
        const std::lock_guard lock(mutex_);
        bytes_ = std::move(bytes);
        closes_ = closes;
    }
    /// Sends bytes on the last connection without a request. They have arrived when it returns true.
    [[nodiscard]] bool send_unasked(std::string_view bytes) {
        const std::lock_guard lock(mutex_);
        ::send(connection_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        return eventually([&] {
            int underway = 0;
            return ::ioctl(connection_, SIOCOUTQ, &underway) == 0 && underway == 0;
        });
    }
    [[nodiscard]] int connections() const {
        const std::lock_guard lock(mutex_);
        return connections_;
    }
    [[nodiscard]] std::string last_request() const {
        const std::lock_guard lock(mutex_);
        return last_request_;
    }
    [[nodiscard]] std::string url() const { return "http://127.0.0.1:" + std::to_string(listener_.port()) + '/'; }
    [[nodiscard]] HttpDriverOptions options(HttpFormat format = HttpFormat::json) const {
        HttpDriverOptions options;
        options.url = url();
        options.format = format;
        options.timeout = std::chrono::milliseconds(10'000);
        return options;
    }

  private:
    bool serve(int descriptor) {
        std::array<char, 4'096> bytes;
        const ssize_t count = ::recv(descriptor, bytes.data(), bytes.size(), 0);
        const std::lock_guard lock(mutex_);  // also before the connection is closed, see send_unasked()
        if (count <= 0) {
            return false;
        }
        head_.append(bytes.data(), static_cast<std::size_t>(count));
        if (!head_.ends_with("\r\n\r\n")) {
            return true;
        }
        last_request_ = std::exchange(head_, {});
        ::send(descriptor, bytes_.data(), bytes_.size(), MSG_NOSIGNAL);
        return !closes_;
    }

    const Listener listener_;
    mutable std::mutex mutex_;
    std::string bytes_;
    bool closes_ = false;
    int connections_ = 0;
    int connection_ = -1;  // the last one
    std::string head_;
    std::string last_request_;
    PeerThread thread_;
};

}  // namespace telegate::test
