#include "byte_ring.hpp"
#include "harness.hpp"
#include "latency.hpp"

#include "zmtp/frame.hpp"

#include <sys/epoll.h>

#include <utility>

/// Moves the same bytes as the other engines with minimal overhead, the upper limit of their rates: over blocking
/// sockets, tcp with TCP_NODELAY or Unix sockets instead of ipc, or through rings instead of inproc.
namespace telegate::perf {

namespace {

[[nodiscard]] sa_family_t family_of(Transport transport) noexcept {
    return transport == Transport::tcp ? AF_INET : AF_UNIX;
}

void set_time(const UniqueFd& socket, int name, std::chrono::milliseconds time) {
    const timeval value{time.count() / 1'000, time.count() % 1'000 * 1'000};
    checked(::setsockopt(socket.get(), SOL_SOCKET, name, &value, sizeof value), "raw: setsockopt");
}

/// Returns the number of bytes read; 0 if none arrive in time.
[[nodiscard]] std::size_t read_some(const UniqueFd& socket, void* data, std::size_t bytes_max, int flags = 0) {
    const ssize_t bytes = ::recv(socket.get(), data, bytes_max, flags);
    if (bytes == 0) {
        throw std::runtime_error("raw: the connection was closed");
    }
    if (bytes < 0 && errno != EAGAIN && errno != EINTR) {
        throw std::system_error(errno, std::generic_category(), "raw: recv");
    }
    return bytes > 0 ? static_cast<std::size_t>(bytes) : 0;
}

void write_all(int socket, Bytes bytes) {
    while (!bytes.empty()) {
        const ssize_t sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent < 0 && errno == EAGAIN) {
            throw std::runtime_error("raw: nothing was read for ten seconds");
        }
        if (sent < 0 && errno != EINTR) {
            throw std::system_error(errno, std::generic_category(), "raw: send");
        }
        bytes = bytes.subspan(sent > 0 ? static_cast<std::size_t>(sent) : 0);
    }
}

/// Stores the pending connections, each at the index that its receiver has sent.
void accept_some(const LocalListener& listener, std::vector<UniqueFd>& connections) {
    for (;;) {
        UniqueFd socket(::accept4(listener.socket.get(), nullptr, nullptr, SOCK_CLOEXEC));
        if (socket.get() < 0 && (errno == EAGAIN || errno == EINTR)) {
            return;
        }
        checked(socket.get(), "raw: accept4");
        set_time(socket, SO_RCVTIMEO, stillness_max);
        set_time(socket, SO_SNDTIMEO, stillness_max);
        std::uint32_t index = 0;
        if (::recv(socket.get(), &index, sizeof index, MSG_WAITALL) != sizeof index || index >= connections.size()) {
            throw std::runtime_error("raw: a connection sent no index");
        }
        connections[index] = std::move(socket);
    }
}

struct RawTuning {
    std::size_t chunk_bytes = 0;  // of each write and read; of a ring, its capacity
    int buffer_bytes = 0;         // of the sockets; 0: default
};

/// Returns the number of lanes, each of which has its own messages: one for all receivers, or one per receiver.
[[nodiscard]] std::size_t lane_count(const Workload& work) noexcept {
    return work.topics == 1 ? 1 : work.receivers;
}

/// The lane of each message in turn. Threads: one. Limits: none. Failure: none.
class LaneTurns {
  public:
    explicit LaneTurns(const Workload& work) : lanes_(work.topics, -1) {
        for (std::size_t receiver = 0; receiver < work.receivers; ++receiver) {
            lanes_[topic_of(work, receiver)] = work.topics == 1 ? 0 : static_cast<int>(receiver);
        }
    }
    /// Returns -1 for a topic without subscribers.
    [[nodiscard]] int next() noexcept {
        const int lane = lanes_[next_];
        next_ = next_ + 1 == lanes_.size() ? 0 : next_ + 1;
        return lane;
    }

  private:
    std::vector<int> lanes_;  // by topic
    std::size_t next_ = 0;
};

/// Collects frames of one size, with the header of ZMTP, in a chunk and writes it when it is full.
/// Threads: one. Limits: one chunk. Failure: as write_all().
class ChunkWriter {
  public:
    ChunkWriter(std::size_t chunk_bytes, std::size_t payload_bytes)
        : chunk_(chunk_bytes), header_bytes_(zmtp::frame_header_bytes(payload_bytes)) {
        zmtp::write_frame_header(header_.data(), 0, payload_bytes);
    }

    void add_socket(int socket) { sockets_.push_back(socket); }
    void add(std::string_view payload) {
        if (chunk_.size() - used_ >= zmtp::frame_header_bytes_max + payload.size()) [[likely]] {
            std::memcpy(chunk_.data() + used_, header_.data(), header_.size());  // a fixed size costs less
            std::memcpy(chunk_.data() + used_ + header_bytes_, payload.data(), payload.size());
            used_ += header_bytes_ + payload.size();
        } else {
            add_in_parts({reinterpret_cast<const char*>(header_.data()), header_bytes_});
            add_in_parts(payload);
        }
    }
    void flush() {
        for (const int socket : sockets_) {
            write_all(socket, std::as_bytes(std::span(chunk_).first(used_)));
        }
        used_ = 0;
    }

  private:
    void add_in_parts(std::string_view bytes) {
        while (!bytes.empty()) {
            if (used_ == chunk_.size()) {
                flush();
            }
            const std::size_t part = bytes.copy(chunk_.data() + used_, chunk_.size() - used_);
            used_ += part;
            bytes.remove_prefix(part);
        }
    }

    std::vector<char> chunk_;
    std::size_t used_ = 0;
    std::array<std::byte, zmtp::frame_header_bytes_max> header_{};
    std::size_t header_bytes_;
    std::vector<int> sockets_;
};

/// Blocking sockets; each chunk is written to one receiver after the other.
struct StreamLink {
    struct Shared {
        Shared(const Workload& /*work*/, const RawTuning& tuning_in) : tuning(tuning_in) {}
        const RawTuning tuning;
    };
    class Sender;
    class Receiver;
};

class StreamLink::Sender {
  public:
    Sender(Shared& shared, const Workload& work)
        : buffer_bytes_(shared.tuning.buffer_bytes),
          listener_(family_of(work.transport)),
          turns_(work),
          connections_(work.receivers),
          lanes_(lane_count(work), ChunkWriter(shared.tuning.chunk_bytes, work.size)) {
        set_time(listener_.socket, SO_RCVTIMEO, std::chrono::milliseconds(1));
    }
    [[nodiscard]] std::string address() const { return listener_.address; }
    void greet(std::string_view payload) {
        if (!is_complete_ && !complete()) {
            return;
        }
        for (ChunkWriter& lane : lanes_) {
            lane.add(payload);
        }
        flush();
    }
    void send(std::string_view payload) {
        const int lane = turns_.next();
        if (lane >= 0) {
            lanes_[static_cast<std::size_t>(lane)].add(payload);
        }
    }
    void flush() {
        for (ChunkWriter& lane : lanes_) {
            lane.flush();
        }
    }
    void turn() { nap(); }

  private:
    /// Returns whether all receivers are connected.
    [[nodiscard]] bool complete() {
        accept_some(listener_, connections_);
        is_complete_ = std::ranges::all_of(connections_, [](const UniqueFd& each) { return each.get() >= 0; });
        for (std::size_t index = 0; is_complete_ && index < connections_.size(); ++index) {
            if (buffer_bytes_ > 0) {
                set_socket_option(connections_[index].get(), SOL_SOCKET, SO_SNDBUF, buffer_bytes_);
            }
            lanes_[lanes_.size() == 1 ? 0 : index].add_socket(connections_[index].get());
        }
        return is_complete_;
    }

    const int buffer_bytes_;
    const LocalListener listener_;
    LaneTurns turns_;
    std::vector<UniqueFd> connections_;
    std::vector<ChunkWriter> lanes_;
    bool is_complete_ = false;
};

class StreamLink::Receiver {
  public:
    Receiver(Shared& shared, const Workload& work, const std::string& address, std::size_t index)
        : chunk_bytes_(shared.tuning.chunk_bytes),
          socket_(connect_to(address, shared.tuning.buffer_bytes)),
          bytes_(chunk_bytes_ + zmtp::frame_header_bytes_max + work.size) {
        set_time(socket_, SO_RCVTIMEO, receive_wait);
        const std::array number{static_cast<std::uint32_t>(index)};
        write_all(socket_.get(), std::as_bytes(std::span(number)));
    }

    [[nodiscard]] bool receive(Checker& checker) {
        const std::size_t free = std::min(chunk_bytes_, bytes_.size() - have_);
        const std::size_t came = read_some(socket_, bytes_.data() + have_, free);
        have_ += came;
        std::size_t begin = 0;
        for (std::size_t frame = frame_at(begin); frame > 0; frame = frame_at(begin)) {
            const std::size_t header = is_long(begin) ? zmtp::frame_header_bytes_max : 2;
            checker.take(bytes_.data() + begin + header, frame - header);
            begin += frame;
        }
        std::memmove(bytes_.data(), bytes_.data() + begin, have_ - begin);
        have_ -= begin;
        return came > 0;
    }

  private:
    [[nodiscard]] bool is_long(std::size_t begin) const noexcept {
        return (static_cast<unsigned char>(bytes_[begin]) & zmtp::frame_flag::long_size) != 0;
    }
    /// Returns the size of the frame that begins there; 0 if it is incomplete.
    [[nodiscard]] std::size_t frame_at(std::size_t begin) const {
        const std::size_t left = have_ - begin;
        if (left < 2) {
            return 0;
        }
        std::uint64_t bytes = 2 + static_cast<std::uint64_t>(static_cast<unsigned char>(bytes_[begin + 1]));
        if (is_long(begin)) {
            if (left < zmtp::frame_header_bytes_max) {
                return 0;
            }
            std::memcpy(&bytes, bytes_.data() + begin + 1, sizeof bytes);
            bytes = __builtin_bswap64(bytes) + zmtp::frame_header_bytes_max;
        }
        if (bytes > bytes_.size()) {
            throw std::runtime_error("raw: a frame is too large");
        }
        return bytes <= left ? static_cast<std::size_t>(bytes) : 0;
    }

    const std::size_t chunk_bytes_;
    const UniqueFd socket_;
    std::vector<char> bytes_;
    std::size_t have_ = 0;
};

/// A ring per lane; all receivers of a lane read from the same ring.
struct RingLink {
    struct Shared {
        Shared(const Workload& work, const RawTuning& tuning) {
            for (std::size_t lane = 0; lane < lane_count(work); ++lane) {
                rings.push_back(
                    std::make_unique<ByteRing>(tuning.chunk_bytes, work.size, work.receivers / lane_count(work)));
            }
        }
        std::vector<std::unique_ptr<ByteRing>> rings;
    };
    class Sender;
    class Receiver;
};

class RingLink::Sender {
  public:
    Sender(Shared& shared, const Workload& work) : rings_(shared.rings), turns_(work) {}
    [[nodiscard]] static std::string address() { return "ring"; }
    void greet(std::string_view payload) {
        for (const auto& ring : rings_) {
            (void)ring->put(payload);
        }
        flush();
    }
    void send(std::string_view payload) {
        const int lane = turns_.next();
        if (lane < 0) {
            return;
        }
        ByteRing& ring = *rings_[static_cast<std::size_t>(lane)];
        if (!ring.put(payload)) [[unlikely]] {
            wait_and_put(ring, payload);
        }
    }
    void flush() {
        for (const auto& ring : rings_) {
            ring->publish();
        }
    }
    static void turn() { nap(); }

  private:
    static void wait_and_put(ByteRing& ring, std::string_view payload) {
        constexpr std::uint64_t rounds_between_checks = 1'024;
        Patience patience;
        for (std::uint64_t round = 1; !ring.put(payload); ++round) {
            if (round % rounds_between_checks == 0) {
                patience.check("free space in a ring");
            }
            std::this_thread::yield();
        }
    }

    std::vector<std::unique_ptr<ByteRing>>& rings_;
    LaneTurns turns_;
};

class RingLink::Receiver {
  public:
    Receiver(Shared& shared, const Workload& work, const std::string& /*address*/, std::size_t index)
        : ring_(*shared.rings[work.topics == 1 ? 0 : index]), reader_(work.topics == 1 ? index : 0) {}

    [[nodiscard]] bool receive(Checker& checker) {
        constexpr int rounds_max = 1'000;
        for (int round = 0; round < rounds_max; ++round) {
            if (ring_.take(reader_, [&checker](const char* data, std::size_t bytes) { checker.take(data, bytes); })) {
                return true;
            }
            std::this_thread::yield();
        }
        return false;
    }

  private:
    ByteRing& ring_;
    const std::size_t reader_;
};

/// One end of a connection that waits with epoll. Frames have one size and the header of ZMTP.
class FrameEnd {
  public:
    FrameEnd(UniqueFd socket, std::size_t payload_bytes)
        : socket_(std::move(socket)),
          epoll_(checked(::epoll_create1(EPOLL_CLOEXEC), "raw: epoll_create1")),
          header_bytes_(zmtp::frame_header_bytes(payload_bytes)),
          outgoing_(zmtp::frame_header_bytes_max + payload_bytes) {
        set_time(socket_, SO_SNDTIMEO, reply_time_max);
        epoll_event event{};
        event.events = EPOLLIN;
        checked(::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, socket_.get(), &event), "raw: epoll_ctl");
        zmtp::write_frame_header(outgoing_.data(), 0, payload_bytes);
        outgoing_.resize(header_bytes_ + payload_bytes);
        incoming_.resize(outgoing_.size());
    }

    void write(Bytes payload) {
        std::memcpy(outgoing_.data() + header_bytes_, payload.data(), payload.size());
        write_all(socket_.get(), outgoing_);
    }

    /// Returns the payload of the next frame, or nothing if none begins in time.
    [[nodiscard]] Bytes read(std::chrono::milliseconds time) {
        for (std::size_t have = 0; have < incoming_.size();) {
            epoll_event event{};
            const int ready = ::epoll_wait(epoll_.get(), &event, 1, static_cast<int>(time.count()));
            if (ready == 0 && have == 0) {
                return {};
            }
            if (ready == 0) {
                throw std::runtime_error("raw: received an incomplete frame");
            }
            have += read_some(socket_, incoming_.data() + have, incoming_.size() - have, MSG_DONTWAIT);
            time = reply_time_max;
        }
        if (std::memcmp(incoming_.data(), outgoing_.data(), header_bytes_) != 0) {
            throw std::runtime_error("raw: a frame has the wrong header");
        }
        return Bytes(incoming_).subspan(header_bytes_);
    }

  private:
    UniqueFd socket_;
    UniqueFd epoll_;
    std::size_t header_bytes_;
    std::vector<std::byte> outgoing_;  // with the header
    std::vector<std::byte> incoming_;
};

RoundTrips run_raw_latency(const LatencyWork& work) {
    const LocalListener listener(family_of(work.transport));
    FrameEnd dealer(connect_to(listener.address), work.size);
    FrameEnd router(listener.accept(), work.size);
    const auto answer = [&router] {
        const Bytes payload = router.read(stop_interval);
        if (!payload.empty()) {
            router.write(payload);
        }
    };
    const auto exchange = [&dealer](Bytes payload) {
        dealer.write(payload);
        return dealer.read(reply_time_max);
    };
    return run_both(work.placement, answer, [&] { return time_round_trips(work, exchange); });
}

constexpr std::size_t kib = 1024;
constexpr int mib = 1024 * 1024;

// With 2 MiB or more, data has moved from the writer's cache to a shared one, from which it is read faster.
constexpr std::array ring_sizes{64 * kib, 256 * kib, 1024 * kib, 2048 * kib, 4096 * kib, 8192 * kib};

/// Returns whether a ring of this size differs from the smaller ones for messages of this size.
bool is_ring_needed(std::size_t ring_bytes, std::size_t message_bytes) {
    return ring_bytes == ring_sizes.front() || ByteRing::capacity_for(ring_bytes, message_bytes) == ring_bytes;
}

}  // namespace

std::vector<Engine> raw_engines() {
    std::vector<Engine> engines;
    // It does not encrypt, so it is not an upper limit for CURVE.
    const auto add = [&engines](const std::string& variant, auto can, auto run) {
        engines.push_back({"raw", variant,
                           [can](const Workload& work) { return is_possible(work) && !work.curve && can(work); }, run});
    };
    for (const std::size_t bytes : {64 * kib, 256 * kib, 1024 * kib}) {
        for (const auto& [buffer_bytes, buffers] : {std::pair{0, "default buffers"}, {4 * mib, "4 MiB buffers"}}) {
            add(
                size_name(bytes) + " chunks, " + buffers,
                [](const Workload& work) { return work.transport != Transport::inproc; },
                [tuning = RawTuning{bytes, buffer_bytes}](const Workload& work) {
                    return run_workload<StreamLink>(work, tuning);
                });
        }
    }
    for (const std::size_t bytes : ring_sizes) {
        add(
            size_name(bytes) + " ring",
            [bytes](const Workload& work) {
                return work.transport == Transport::inproc && is_ring_needed(bytes, work.size);
            },
            [tuning = RawTuning{bytes, 0}](const Workload& work) { return run_workload<RingLink>(work, tuning); });
    }
    return engines;
}

bool is_usual(const Engine& raw) {
    return raw.variant == "256 KiB chunks, default buffers" || raw.variant == "64 KiB ring";
}

LatencyEngine raw_latency() {
    return {"raw", "the same kind of connection, epoll_wait() before each read on both sides",
            [](Transport transport) { return transport != Transport::inproc; }, run_raw_latency};
}

}  // namespace telegate::perf
