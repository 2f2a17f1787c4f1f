#pragma once

#include "core/limits.hpp"
#include "core/unique_fd.hpp"
#include "zmtp/handshake.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace telegate::test {

inline void require(bool holds, const char* what) {
    if (!holds) {
        throw std::runtime_error(what);
    }
}

/// A listening or connected blocking socket.
[[nodiscard]] inline UniqueFd tcp_socket() {
    UniqueFd descriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const timeval time{60, 0};
    ::setsockopt(descriptor.get(), SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
    ::setsockopt(descriptor.get(), SOL_SOCKET, SO_SNDTIMEO, &time, sizeof time);
    return descriptor;
}

[[nodiscard]] inline UniqueFd connect_to(std::uint16_t port) {
    UniqueFd descriptor = tcp_socket();
    sockaddr_in address{AF_INET, htons(port), {htonl(INADDR_LOOPBACK)}, {}};
    require(::connect(descriptor.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0, "connect");
    return descriptor;
}

struct Listening {
    UniqueFd descriptor = tcp_socket();
    std::uint16_t port = 0;

    Listening() {
        sockaddr_in address{AF_INET, 0, {htonl(INADDR_LOOPBACK)}, {}};
        socklen_t size = sizeof address;
        require(::bind(descriptor.get(), reinterpret_cast<sockaddr*>(&address), size) == 0, "bind");
        require(::listen(descriptor.get(), 1) == 0, "listen");
        require(::getsockname(descriptor.get(), reinterpret_cast<sockaddr*>(&address), &size) == 0, "getsockname");
        port = ntohs(address.sin_port);
    }
    [[nodiscard]] UniqueFd accept() const { return UniqueFd(::accept(descriptor.get(), nullptr, nullptr)); }
};

struct Received {
    std::uint8_t outer_flags = 0;
    std::uint8_t flags = 0;
    std::string text;
};

/// One connection that uses our handshake and cipher.
/// Threads: one. Limits: no call waits longer than a minute. Failure: throws std::runtime_error.
class CurvePeer {
  public:
    CurvePeer(UniqueFd descriptor, zmtp::HandshakeOptions options)
        : descriptor_(std::move(descriptor)), handshake_(std::move(options)), decoder_(limits::message_bytes_max) {}

    /// Reads until done, a violation, or the end of the connection, which returns need_more.
    zmtp::Handshake::Status shake_hands() {
        auto status = zmtp::Handshake::Status::need_more;
        write(handshake_.take_output());
        while (status == zmtp::Handshake::Status::need_more && read()) {
            Bytes input(received_);
            status = handshake_.feed(input);
            received_.erase(received_.begin(), received_.end() - static_cast<std::ptrdiff_t>(input.size()));
            write(handshake_.take_output());
        }
        cipher_ = handshake_.take_cipher();
        return status;
    }

    void send(std::uint8_t flags, Bytes payload) {
        std::vector<std::byte> frame(zmtp::CurveCipher::sealed_bytes(payload.size()));
        require(cipher_->seal(frame.data(), flags, payload) == frame.size(), "seal");
        write(frame);
    }
    /// Receives a frame with the format written by append_...().
    void send_frame(const std::vector<std::byte>& frame) {
        zmtp::FrameDecoder decoder(limits::message_bytes_max);
        Bytes input(frame);
        require(decoder.feed(input) == zmtp::FeedStatus::frame_ready, "not a frame");
        send(decoder.frame().flags, decoder.frame().body);
    }

    [[nodiscard]] Received receive() {
        while (true) {
            Bytes input(received_);
            const zmtp::FeedStatus status = decoder_.feed(input);
            if (status == zmtp::FeedStatus::frame_ready) {
                const zmtp::Frame frame = decoder_.frame();
                std::vector<std::byte> body(frame.body.begin(), frame.body.end());
                received_.erase(received_.begin(), received_.end() - static_cast<std::ptrdiff_t>(input.size()));
                const zmtp::OpenedFrame opened = cipher_->open(body);
                require(opened.ok, "cannot decrypt a MESSAGE");
                return {frame.flags, opened.flags, std::string(as_text(opened.payload))};
            }
            received_.clear();
            if (status == zmtp::FeedStatus::violation || !read()) {
                throw std::runtime_error("the peer has closed the connection");
            }
        }
    }

    [[nodiscard]] const zmtp::Handshake& handshake() const noexcept { return handshake_; }

  private:
    void write(const std::vector<std::byte>& bytes) {
        for (std::size_t sent = 0; sent < bytes.size();) {
            const ssize_t now = ::send(descriptor_.get(), bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
            if (now <= 0) {
                throw std::runtime_error("cannot send");
            }
            sent += static_cast<std::size_t>(now);
        }
    }
    bool read() {
        std::array<std::byte, 4096> piece;
        const ssize_t got = ::recv(descriptor_.get(), piece.data(), piece.size(), 0);
        received_.insert(received_.end(), piece.begin(), piece.begin() + (got > 0 ? got : 0));
        return got > 0;
    }

    UniqueFd descriptor_;
    zmtp::Handshake handshake_;
    zmtp::FrameDecoder decoder_;
    std::unique_ptr<zmtp::CurveCipher> cipher_;
    std::vector<std::byte> received_;
};

}  // namespace telegate::test
