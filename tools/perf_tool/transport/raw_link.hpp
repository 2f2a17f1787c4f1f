#pragma once

#include "transport/harness.hpp"

#include "core/bytes.hpp"
#include "zmtp/frame.hpp"

#include <sys/time.h>

/// Moves the same bytes as the other engines with minimal overhead, the upper limit of their rates: ZMTP frames in
/// chunks over blocking sockets, tcp with TCP_NODELAY or Unix sockets instead of ipc.
namespace telegate::perf::raw {

inline constexpr std::size_t chunk_bytes = 256 * 1024;  // of each write and read

[[nodiscard]] inline sa_family_t family_of(Transport transport) noexcept {
    return transport == Transport::tcp ? AF_INET : AF_UNIX;
}

inline void set_time(const UniqueFd& socket, int name, std::chrono::milliseconds time) {
    const timeval value{time.count() / 1'000, time.count() % 1'000 * 1'000};
    checked(::setsockopt(socket.get(), SOL_SOCKET, name, &value, sizeof value), "raw: setsockopt");
}

/// Returns the number of bytes read; 0 if none arrive in time.
[[nodiscard]] inline std::size_t read_some(const UniqueFd& socket, void* data, std::size_t bytes_max, int flags = 0) {
    const ssize_t bytes = ::recv(socket.get(), data, bytes_max, flags);
    if (bytes == 0) {
        throw std::runtime_error("raw: the connection was closed");
    }
    if (bytes < 0 && errno != EAGAIN && errno != EINTR) {
        throw std::system_error(errno, std::generic_category(), "raw: recv");
    }
    return bytes > 0 ? static_cast<std::size_t>(bytes) : 0;
}

inline void write_all(const UniqueFd& socket, Bytes bytes) {
    while (!bytes.empty()) {
        const ssize_t sent = ::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent < 0 && errno == EAGAIN) {
            throw std::runtime_error("raw: nothing was read for ten seconds");
        }
        if (sent < 0 && errno != EINTR) {
            throw std::system_error(errno, std::generic_category(), "raw: send");
        }
        bytes = bytes.subspan(sent > 0 ? static_cast<std::size_t>(sent) : 0);
    }
}

/// The header of frames of one size.
struct Header {
    explicit Header(std::size_t payload_bytes) : size(zmtp::frame_header_bytes(payload_bytes)) {
        zmtp::write_frame_header(bytes.data(), 0, payload_bytes);
    }
    std::array<std::byte, zmtp::frame_header_bytes_max> bytes{};
    std::size_t size;
};

/// Collects frames in a chunk, which it writes to one receiver after the other.
/// Threads: one. Limits: one chunk. Failure: throws std::exception.
class Sender {
  public:
    Sender(const Header& header, const Workload& work)
        : listener_(family_of(work.transport)),
          receivers_(work.receivers),
          header_(header),
          chunk_(std::max(chunk_bytes, header.bytes.size() + work.size)) {
        set_time(listener_.socket, SO_RCVTIMEO, std::chrono::milliseconds(1));
    }
    [[nodiscard]] std::string address() const { return listener_.address; }
    void greet(std::string_view payload) {
        while (connections_.size() < receivers_) {
            UniqueFd socket(::accept4(listener_.socket.get(), nullptr, nullptr, SOCK_CLOEXEC));
            if (socket.get() < 0 && (errno == EAGAIN || errno == EINTR)) {
                return;
            }
            checked(socket.get(), "raw: accept4");
            set_time(socket, SO_SNDTIMEO, stillness_max);
            connections_.push_back(std::move(socket));
        }
        send(payload);
        flush();
    }
    void send(std::string_view payload) {
        if (chunk_.size() - used_ < header_.bytes.size() + payload.size()) [[unlikely]] {
            flush();
        }
        std::memcpy(chunk_.data() + used_, header_.bytes.data(), header_.bytes.size());  // a fixed size costs less
        std::memcpy(chunk_.data() + used_ + header_.size, payload.data(), payload.size());
        used_ += header_.size + payload.size();
    }
    void flush() {
        for (const UniqueFd& connection : connections_) {
            write_all(connection, Bytes(chunk_).first(used_));
        }
        used_ = 0;
    }
    static void turn() { nap(); }

  private:
    const LocalListener listener_;
    const std::size_t receivers_;
    const Header header_;
    std::vector<std::byte> chunk_;
    std::size_t used_ = 0;
    std::vector<UniqueFd> connections_;
};

/// Threads: one. Limits: one chunk and one frame. Failure: throws std::exception.
class Receiver {
  public:
    Receiver(const Header& header, const Workload& work, const std::string& address, std::size_t /*index*/)
        : header_(header),
          frame_bytes_(header.size + work.size),
          socket_(connect_to(address)),
          bytes_(chunk_bytes + frame_bytes_) {
        set_time(socket_, SO_RCVTIMEO, receive_wait);
    }

    [[nodiscard]] bool receive(Checker& checker) {
        const std::size_t came =
            read_some(socket_, bytes_.data() + have_, std::min(chunk_bytes, bytes_.size() - have_));
        have_ += came;
        std::size_t begin = 0;
        for (; have_ - begin >= frame_bytes_; begin += frame_bytes_) {
            if (std::memcmp(bytes_.data() + begin, header_.bytes.data(), header_.size) != 0) {
                throw std::runtime_error("raw: a frame has the wrong header");
            }
            checker.check(bytes_.data() + begin + header_.size, frame_bytes_ - header_.size);
        }
        std::memmove(bytes_.data(), bytes_.data() + begin, have_ - begin);
        have_ -= begin;
        return came > 0;
    }

  private:
    const Header header_;
    const std::size_t frame_bytes_;
    const UniqueFd socket_;
    std::vector<std::byte> bytes_;
    std::size_t have_ = 0;
};

/// It does not encrypt or select topics, so it is not an upper limit for that.
[[nodiscard]] inline bool can_run(const Workload& work) noexcept {
    return !stays_in_process(work.transport) && !work.curve && work.topics == 1;
}
[[nodiscard]] inline Outcome run(const Workload& work) {
    const Header header(work.size);
    return run_workload<Sender, Receiver>(work, [&]() -> const Header& { return header; });
}

}  // namespace telegate::perf::raw
