#include "core/transport/stream_reader.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/scratch_dir.hpp"
#include "support/stream_pair.hpp"

#include <unistd.h>

#include <string>
#include <vector>

using namespace telegate;
using namespace telegate::test;

namespace {

/// Two connected streams of each transport in turn, both on one reactor.
struct Pair {
    Pair() : transport(GENERATE(Transport::tcp, Transport::ipc, Transport::inproc)) {
        pair = make_stream_pair(reactor, reactor, transport, scratch.path());
        UNSCOPED_INFO(to_string(Endpoint{transport, "", 0, ""}));
    }
    template <class Condition>
    bool turn_until(Condition condition) {
        return eventually([&] {
            reactor.poll();
            return condition();
        });
    }

    const Transport transport;
    ScratchDir scratch;
    Reactor reactor;
    StreamPair pair;
};

/// Writes until the stream accepts no more. Returns the bytes written.
std::size_t fill(Stream& stream) {
    std::size_t written = 0;
    while (true) {
        const StreamWrite result = write_text(stream, pattern(10'000, written));
        if (result.status != IoStatus::ok) {
            CHECK(result.status == IoStatus::would_block);
            return written;
        }
        written += result.bytes;
    }
}

}  // namespace

TEST_CASE("bytes written at one end are read at the other, both ways", "[core][transport]") {
    Pair p;
    StreamReader accepted(*p.pair.accepted);
    StreamReader connected(*p.pair.connected);
    CHECK(write_text(*p.pair.accepted, "hello").bytes == 5);
    CHECK(write_text(*p.pair.connected, "and back").bytes == 8);
    CHECK(p.turn_until([&] { return accepted.read() == "and back" && connected.read() == "hello"; }));
    CHECK(accepted.last.status == IoStatus::would_block);
}

TEST_CASE("several parts arrive in order, however many", "[core][transport]") {
    Pair p;
    const std::string text = pattern(1000);
    std::vector<StreamPart> parts;
    for (std::size_t at = 0; at < text.size(); at += 5) {
        parts.push_back({reinterpret_cast<const std::byte*>(text.data()) + at, 5, nullptr});
    }
    std::size_t written = 0;
    while (written < text.size()) {
        const StreamWrite result = p.pair.accepted->write(std::span(parts).subspan(written / 5));
        REQUIRE(result.status == IoStatus::ok);
        REQUIRE(result.bytes % 5 == 0);
        written += result.bytes;
    }
    StreamReader reader(*p.pair.connected);
    CHECK(p.turn_until([&] { return reader.read() == text; }));
}

TEST_CASE("a full stream blocks, and is writable again when the peer has read", "[core][transport]") {
    Pair p;
    bool is_writable = false;
    p.pair.accepted->watch([] {}, [&] { is_writable = true; });
    const std::size_t written = fill(*p.pair.accepted);
    CHECK(written > 0);
    p.pair.accepted->wait_writable();
    p.reactor.poll();
    CHECK_FALSE(is_writable);
    StreamReader reader(*p.pair.connected);
    CHECK(p.turn_until([&] {
        reader.read();
        return is_writable && reader.received.size() == written;
    }));
    CHECK(write_text(*p.pair.accepted, "x").bytes == 1);
}

TEST_CASE("nothing is lost or mixed up while both ends work in pieces", "[core][transport]") {
    Pair p;
    const std::string text = pattern(8'000'000);
    StreamReader reader(*p.pair.connected, 4096);
    std::size_t written = 0;
    CHECK(p.turn_until([&] {
        while (written < text.size()) {
            const StreamWrite result = write_text(*p.pair.accepted, std::string_view(text).substr(written, 100'000));
            written += result.bytes;
            if (result.status != IoStatus::ok) {
                break;
            }
        }
        return reader.read(100).size() == text.size();
    }));
    CHECK(reader.received == text);
}

TEST_CASE("a reader that takes one byte at a time gets every byte", "[core][transport]") {
    Pair p;
    const std::string text = pattern(3000);
    CHECK(write_text(*p.pair.accepted, text).bytes == text.size());
    BufferPool pool(1);
    Input input(pool);
    std::string received;
    const auto take_one = [&] {
        (void)p.pair.connected->read(input);
        if (!input.unread().empty()) {
            received += static_cast<char>(input.unread().front());
            input.consume(1);
        }
    };
    CHECK(p.turn_until([&] {
        for (int count = 0; count < 100; ++count) {
            take_one();
        }
        return received.size() == text.size();
    }));
    CHECK(received == text);
}

TEST_CASE("the end of writing follows the written data, and the other direction stays open", "[core][transport]") {
    Pair p;
    CHECK(write_text(*p.pair.accepted, "last words").bytes == 10);
    p.pair.accepted->end_writing();
    StreamReader reader(*p.pair.connected);
    CHECK(p.turn_until([&] { return reader.at_end(); }));
    CHECK(reader.received == "last words");
    CHECK(write_text(*p.pair.connected, "answer").bytes == 6);
    StreamReader other(*p.pair.accepted);
    CHECK(p.turn_until([&] { return other.read() == "answer"; }));
}

TEST_CASE("data that a stream wrote before it was destroyed arrives, then the end", "[core][transport]") {
    Pair p;
    const std::string text = pattern(100'000);
    CHECK(write_text(*p.pair.accepted, text).bytes == text.size());
    p.pair.accepted.reset();
    StreamReader reader(*p.pair.connected);
    CHECK(p.turn_until([&] { return reader.at_end(); }));
    CHECK(reader.received == text);
}

TEST_CASE("writing to a closed peer eventually returns an error and raises no signal", "[core][transport]") {
    Pair p;
    p.pair.connected.reset();
    StreamWrite result;
    CHECK(p.turn_until([&] {
        result = write_text(*p.pair.accepted, "x");
        return result.status == IoStatus::error;
    }));
    CHECK((result.error == EPIPE || result.error == ECONNRESET));
}

TEST_CASE("a waiting reader is called once, and not from within the wait", "[core][transport]") {
    Pair p;
    int calls = 0;
    p.pair.connected->watch([&] { ++calls; }, [] {});
    p.pair.connected->wait_readable();
    p.pair.connected->wait_readable();
    p.reactor.poll();
    CHECK(calls == 0);
    CHECK(write_text(*p.pair.accepted, "x").bytes == 1);
    CHECK(calls == 0);
    CHECK(p.turn_until([&] { return calls > 0; }));
    p.reactor.poll();
    CHECK(calls == 1);
    p.pair.connected->wait_readable();  // the byte is still there
    CHECK(calls == 1);
    CHECK(p.turn_until([&] { return calls == 2; }));
}

TEST_CASE("a waiting reader is notified that its peer is gone", "[core][transport]") {
    Pair p;
    int calls = 0;
    p.pair.connected->watch([&] { ++calls; }, [] {});
    p.pair.connected->wait_readable();
    p.reactor.poll();
    p.pair.accepted.reset();
    CHECK(p.turn_until([&] { return calls == 1; }));
    StreamReader reader(*p.pair.connected);
    CHECK(reader.at_end());
}

TEST_CASE("a waiting writer is notified that its peer is gone", "[core][transport]") {
    Pair p;
    int calls = 0;
    p.pair.accepted->watch([] {}, [&] { ++calls; });
    fill(*p.pair.accepted);
    p.pair.accepted->wait_writable();
    p.pair.connected.reset();
    CHECK(p.turn_until([&] { return calls == 1; }));
}

TEST_CASE("a stream can be destroyed in its own callback", "[core][transport]") {
    Pair p;
    int calls = 0;
    p.pair.connected->watch(
        [&] {
            ++calls;
            p.pair.connected.reset();
        },
        [&] { ++calls; });
    p.pair.connected->wait_readable();
    p.pair.connected->wait_writable();
    CHECK(write_text(*p.pair.accepted, "x").bytes == 1);
    CHECK(p.turn_until([&] { return p.pair.connected == nullptr; }));
    const int calls_then = calls;
    p.reactor.poll();
    CHECK(calls == calls_then);
}

TEST_CASE("no callback runs after a stream is destroyed", "[core][transport]") {
    Pair p;
    int calls = 0;
    p.pair.connected->watch([&] { ++calls; }, [&] { ++calls; });
    p.pair.connected->wait_readable();
    p.pair.connected->wait_writable();
    CHECK(write_text(*p.pair.accepted, "x").bytes == 1);
    p.pair.connected.reset();
    p.reactor.poll();
    CHECK(calls == 0);
}

TEST_CASE("a stream names its peer", "[core][transport]") {
    Pair p;
    const std::string peer = p.pair.accepted->peer();
    if (p.transport == Transport::tcp) {
        CHECK(peer.starts_with("127.0.0.1:"));
        CHECK(p.pair.accepted->address() == "127.0.0.1");
    } else if (p.transport == Transport::ipc) {
        CHECK(peer == "pid=" + std::to_string(::getpid()) + " uid=" + std::to_string(::getuid()));
        CHECK(p.pair.accepted->address().empty());
    } else {
        CHECK(peer == "inproc");
        CHECK(p.pair.accepted->address().empty());
    }
    CHECK(p.pair.accepted->stays_in_process() == (p.transport == Transport::inproc));
}

TEST_CASE("a peer that does not read leaves bytes unacknowledged, if that is known", "[core][transport]") {
    Pair p;
    CHECK(p.pair.accepted->unacknowledged_bytes() == 0);
    fill(*p.pair.accepted);
    if (p.transport == Transport::ipc) {
        CHECK(p.pair.accepted->unacknowledged_bytes() == 0);
    } else {
        CHECK(p.pair.accepted->unacknowledged_bytes() > 0);
    }
    CHECK((p.pair.accepted->acknowledged_ms_ago() >= 0) == (p.transport != Transport::inproc));
    StreamReader reader(*p.pair.connected);
    CHECK(p.turn_until([&] {
        reader.read();
        return p.pair.accepted->unacknowledged_bytes() == 0;
    }));
}
