#include "buffers/segment_log.hpp"
#include "core/transport/stream_reader.hpp"
#include "support/catch.hpp"
#include "support/stream_pair.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

using namespace telegate;
using namespace telegate::test;

namespace {

/// Sends a pattern of a given length and checks the received one, on its own thread.
class Talker {
  public:
    Talker(Reactor& reactor, std::unique_ptr<Stream> stream, std::size_t bytes, unsigned seed)
        : reactor_(reactor),
          stream_(std::move(stream)),
          input_(buffers_),
          seed_(seed),
          text_(pattern(251 * 400)),
          to_send_(bytes) {
        pool_.add_reader_in_process();
        stream_->watch([this] { read(); }, [this] { write(); });
        stream_->wait_readable();
        stream_->wait_writable();
    }

    /// Runs until there is nothing left to write or read, or for `steps_max` iterations.
    void run(std::size_t steps_max) {
        for (std::size_t step = 0; step < steps_max && !((is_sent() || has_failed) && has_ended); ++step) {
            reactor_.run_for(std::chrono::milliseconds(1));
        }
    }
    void leave() {
        stream_.reset();
        log_.release();
    }
    [[nodiscard]] bool is_sent() const { return sent_ == to_send_; }

    std::size_t received = 0;
    bool is_right = true;
    bool has_ended = false;
    bool has_failed = false;

  private:
    unsigned next(unsigned below) { return (seed_ = seed_ * 1103515245 + 12345) / 65536 % below; }

    /// Returns a part with the pattern at `position`.
    StreamPart make_part(std::size_t position) {
        const std::size_t bytes = std::min<std::size_t>(to_send_ - position, 1 + next(next(4) == 0 ? 90'000 : 300));
        const char* text = text_.data() + position % 251;
        if (next(3) == 0) {
            return {reinterpret_cast<const std::byte*>(text), bytes, nullptr};
        }
        std::memcpy(log_.prepare(bytes), text, bytes);
        const Slice slice = log_.commit(bytes);
        return {slice.segment->bytes.get() + slice.begin, bytes, slice.segment};
    }

    /// Makes one part, or several together.
    void make_parts() {
        parts_.clear();
        std::size_t position = sent_;
        for (unsigned left = next(3) == 0 ? 1 + next(64) : 1; left > 0 && position < to_send_; --left) {
            parts_.push_back(make_part(position));
            position += parts_.back().bytes;
            if (parts_.back().segment != nullptr) {
                segments_.emplace_back(parts_.back().segment);
            }
        }
    }

    void write() {
        for (int count = 0; count < 50 && !is_sent() && !has_failed; ++count) {
            make_parts();
            const StreamWrite result = stream_->write(parts_);
            segments_.clear();
            sent_ += result.bytes;
            has_failed = result.status == IoStatus::error;
            if (result.status == IoStatus::would_block) {
                break;
            }
        }
        if (is_sent()) {
            stream_->end_writing();
        } else if (!has_failed) {
            stream_->wait_writable();
        }
    }

    void read() {
        for (int count = 0; count < 50; ++count) {
            const StreamRead result = stream_->read(input_);
            if (result.status != IoStatus::ok) {
                has_ended = result.status == IoStatus::end;
                break;
            }
            // Sometimes not everything, as when a message has not arrived completely.
            const std::size_t unread = input_.unread().size();
            receive(unread - std::min<std::size_t>(unread, next(3) == 0 ? next(20) : 0));
        }
        if (has_ended) {
            receive(input_.unread().size());
        } else {
            stream_->wait_readable();
        }
    }

    void receive(std::size_t bytes) {
        while (bytes > 0) {
            const std::size_t count = std::min<std::size_t>(bytes, 251 * 200);
            is_right = is_right && std::memcmp(input_.unread().data(), text_.data() + received % 251, count) == 0;
            received += count;
            input_.consume(count);
            bytes -= count;
        }
    }

    Reactor& reactor_;
    SegmentPool pool_{32 * 1024};
    SegmentLog log_{pool_};
    std::vector<StreamPart> parts_;
    std::vector<SegmentRef> segments_;  // of these parts, until they are written
    BufferPool buffers_{4096};
    std::unique_ptr<Stream> stream_;
    Input input_;
    unsigned seed_;
    const std::string text_;
    const std::size_t to_send_;
    std::size_t sent_ = 0;
};

}  // namespace

TEST_CASE("two threads send each other millions of bytes at once", "[core][transport][inproc][thread]") {
    constexpr std::size_t bytes = 20'000'000;
    const unsigned seed = GENERATE(1U, 2U, 3U);
    Reactor a;
    Reactor b;
    StreamPair pair = make_stream_pair(a, b, Transport::inproc, "");
    Talker first(a, std::move(pair.accepted), bytes, seed);
    Talker second(b, std::move(pair.connected), bytes, seed + 100);
    std::thread thread([&] { second.run(1'000'000); });
    first.run(1'000'000);
    thread.join();
    CHECK(first.received == bytes);
    CHECK(second.received == bytes);
    CHECK(first.is_right);
    CHECK(second.is_right);
    CHECK(first.has_ended);
    CHECK(second.has_ended);
}

TEST_CASE("either end can be destroyed at any moment while the other works", "[core][transport][inproc][thread]") {
    constexpr std::size_t bytes = 1'000'000'000;
    for (unsigned round = 0; round < 60; ++round) {
        Reactor a;
        Reactor b;
        StreamPair pair = make_stream_pair(a, b, Transport::inproc, "");
        const bool acceptor_goes = round % 2 == 0;
        Talker stays(acceptor_goes ? b : a, std::move(acceptor_goes ? pair.connected : pair.accepted), bytes, round);
        std::atomic<bool> goes_is_right{false};
        std::thread thread([&] {
            Talker goes(acceptor_goes ? a : b, std::move(acceptor_goes ? pair.accepted : pair.connected), bytes, round);
            goes.run(1 + round % 20);
            goes.leave();
            goes_is_right = goes.is_right;
        });
        const bool is_told = eventually([&] {
            stays.run(100);
            return stays.has_ended && stays.has_failed;
        });
        thread.join();
        REQUIRE(is_told);
        REQUIRE(stays.is_right);
        REQUIRE(goes_is_right);
    }
}
