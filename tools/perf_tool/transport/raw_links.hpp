#pragma once

#include "byte_ring.hpp"
#include "harness.hpp"
#include "raw_socket.hpp"

#include "zmtp/frame.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

/// The same bytes moved with nothing around them: what the engines can reach at best.
namespace telegate::perf {

struct RawTuning {
    std::size_t chunk_bytes = 0;  // of each write and read; of a ring, in all
    int buffer_bytes = 0;         // of the sockets; 0 leaves the system's
};

/// For each topic the lane that its messages take: one for all receivers when there is one topic, else one for each
/// receiver, and none (-1) where nobody has asked.
[[nodiscard]] inline std::vector<int> lanes_of(const Workload& work) {
    std::vector<int> lanes(work.topics, -1);
    for (std::size_t receiver = 0; receiver < work.receivers; ++receiver) {
        lanes[topic_of(work, receiver)] = work.topics == 1 ? 0 : static_cast<int>(receiver);
    }
    return lanes;
}

/// Goes through the topics' lanes, one for each message.
/// Threads: one. Limits: none. Failure: none.
class LaneTurns {
  public:
    explicit LaneTurns(const Workload& work) : lanes_(lanes_of(work)) {}
    [[nodiscard]] int next() noexcept {
        const int lane = lanes_[next_];
        next_ = next_ + 1 == lanes_.size() ? 0 : next_ + 1;
        return lane;
    }

  private:
    const std::vector<int> lanes_;
    std::size_t next_ = 0;
};

/// Frames with ZMTP's header, all of one size, collected in a chunk and written when it is full.
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
            write_all(socket, chunk_.data(), used_);
        }
        used_ = 0;
    }

  private:
    void add_in_parts(std::string_view bytes) {
        while (!bytes.empty()) {
            if (used_ == chunk_.size()) {
                flush();
            }
            const std::size_t part = std::min(bytes.size(), chunk_.size() - used_);
            std::memcpy(chunk_.data() + used_, bytes.data(), part);
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

/// Blocking sockets, the chunk written to one receiver after the other.
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
        : listener_(work.transport, shared.tuning.buffer_bytes), turns_(work), connections_(work.receivers) {
        lanes_.assign(work.topics == 1 ? 1 : work.receivers, ChunkWriter(shared.tuning.chunk_bytes, work.size));
    }
    [[nodiscard]] std::string address() const { return listener_.address(); }
    void greet(std::string_view payload) {
        if (!is_complete_ && !complete()) {
            return;
        }
        for (ChunkWriter& lane : lanes_) {
            lane.add(payload);
            lane.flush();
        }
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
    /// Whether all receivers have come.
    [[nodiscard]] bool complete() {
        listener_.accept_some(connections_);
        is_complete_ = std::all_of(connections_.begin(), connections_.end(),
                                   [](const UniqueFd& connection) { return connection.get() >= 0; });
        for (std::size_t index = 0; is_complete_ && index < connections_.size(); ++index) {
            lanes_[lanes_.size() == 1 ? 0 : index].add_socket(connections_[index].get());
        }
        return is_complete_;
    }

    RawListener listener_;
    LaneTurns turns_;
    std::vector<UniqueFd> connections_;
    std::vector<ChunkWriter> lanes_;
    bool is_complete_ = false;
};

class StreamLink::Receiver {
  public:
    Receiver(Shared& shared, const Workload& work, const std::string& address, std::size_t index)
        : chunk_bytes_(shared.tuning.chunk_bytes),
          socket_(raw_connect(work.transport, address, shared.tuning.buffer_bytes, index)),
          bytes_(chunk_bytes_ + zmtp::frame_header_bytes_max + work.size) {}

    [[nodiscard]] bool receive(Checker& checker) {
        const std::size_t room = std::min(chunk_bytes_, bytes_.size() - have_);
        const std::size_t came = read_some(socket_.get(), bytes_.data() + have_, room);
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
    /// Bytes of the frame that begins there; 0 when it is not here whole.
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

/// Waits for the other side of a ring: soon there, so the processor is given up for moments only.
/// Threads: one. Limits: none. Failure: as Patience.
class RingWait {
  public:
    void wait() {
        if (++rounds_ % rounds_between_checks == 0) {
            patience_.check("room in a ring");
        }
        std::this_thread::yield();
    }

  private:
    static constexpr std::uint64_t rounds_between_checks = 1'024;

    std::uint64_t rounds_ = 0;
    Patience patience_;
};

/// One ring for each lane; all readers of a lane read from the same.
struct RingLink {
    struct Shared {
        Shared(const Workload& work, const RawTuning& tuning) {
            const std::size_t lanes = work.topics == 1 ? 1 : work.receivers;
            for (std::size_t lane = 0; lane < lanes; ++lane) {
                rings.push_back(std::make_unique<ByteRing>(tuning.chunk_bytes, work.size, work.receivers / lanes));
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
            ring->publish();
        }
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
        RingWait wait;
        while (!ring.put(payload)) {
            wait.wait();
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
        for (int round = 0; round < rounds_max; ++round) {
            if (ring_.take(reader_, [&checker](const char* data, std::size_t bytes) { checker.take(data, bytes); })) {
                return true;
            }
            std::this_thread::yield();
        }
        return false;
    }

  private:
    static constexpr int rounds_max = 1'000;

    ByteRing& ring_;
    const std::size_t reader_;
};

}  // namespace telegate::perf
