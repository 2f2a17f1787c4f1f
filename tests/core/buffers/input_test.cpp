#include "buffers/input.hpp"

#include "support/catch.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

using namespace telegate;

namespace {

constexpr std::size_t buffer_bytes = 64;

std::string text_of(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Fills as much of the room as there is text. Returns how much that was.
std::size_t receive(Input& input, std::string_view text) {
    const std::span<std::byte> room = input.room();
    const std::size_t bytes = std::min(room.size(), text.size());
    std::memcpy(room.data(), text.data(), bytes);
    input.received(bytes);
    return bytes;
}

void receive_all(Input& input, std::string_view text) {
    while (!text.empty()) {
        text.remove_prefix(receive(input, text));
    }
}

}  // namespace

TEST_CASE("an input gives back in order what it received", "[core][input]") {
    BufferPool pool(buffer_bytes);
    Input input(pool);
    receive_all(input, "hello ");
    receive_all(input, "world");
    CHECK(text_of(input.unread()) == "hello world");
    input.consume(6);
    CHECK(text_of(input.unread()) == "world");
}

TEST_CASE("an input always has room, and more than a few bytes of it once the front was taken", "[core][input]") {
    BufferPool pool(buffer_bytes);
    Input input(pool);
    CHECK(input.room().size() == buffer_bytes);
    receive_all(input, std::string(60, 'a') + "bcde");
    input.consume(60);
    CHECK(input.room().size() == buffer_bytes - 4);
    CHECK(text_of(input.unread()) == "bcde");
}

TEST_CASE("what was taken stays where it is until room is asked for", "[core][input]") {
    BufferPool pool(buffer_bytes);
    Input input(pool);
    receive_all(input, "abcdef");
    const std::span<const std::byte> taken = input.unread().first(3);
    input.consume(3);
    CHECK(text_of(taken) == "abc");
    CHECK(text_of(input.unread()) == "def");
}

TEST_CASE("a message that is larger than the buffer doubles it with what has arrived", "[core][input]") {
    BufferPool pool(buffer_bytes);
    Input input(pool);
    const std::string message(1000, 'm');
    std::size_t sent = 0;
    while (sent < message.size()) {
        CHECK(input.room().size() <= std::max(buffer_bytes, sent));  // never more ahead than has arrived
        sent += receive(input, std::string_view(message).substr(sent));
    }
    CHECK(text_of(input.unread()) == message);
}

TEST_CASE("released memory of the usual size goes back to the pool, a larger one goes", "[core][input]") {
    BufferPool pool(buffer_bytes);
    Input input(pool);
    const std::byte* buffer = input.room().data();
    input.release();
    CHECK(input.room().data() == buffer);
    receive_all(input, std::string(100, 'x'));
    input.consume(100);
    input.release();
    CHECK(input.room().size() == buffer_bytes);
}

TEST_CASE("releasing keeps what is unread", "[core][input]") {
    BufferPool pool(buffer_bytes);
    Input input(pool);
    receive_all(input, "abc");
    input.release();
    CHECK(text_of(input.unread()) == "abc");
}

TEST_CASE("lent memory is shown in place", "[core][input]") {
    BufferPool pool(buffer_bytes);
    Input input(pool);
    std::vector<std::byte> lent(200, std::byte{'l'});
    input.lend(lent);
    CHECK(input.unread().data() == lent.data());
    CHECK(input.unread().size() == 200);
    input.consume(200);
    input.release();
    CHECK(input.unread().empty());
}

TEST_CASE("room moves what is unread out of lent memory, whatever its size", "[core][input]") {
    const std::size_t unread = GENERATE(1U, 63U, 64U, 65U, 200U);
    BufferPool pool(buffer_bytes);
    Input input(pool);
    std::vector<std::byte> lent(200, std::byte{'l'});
    input.lend(lent);
    input.consume(200 - unread);
    CHECK_FALSE(input.room().empty());
    std::fill(lent.begin(), lent.end(), std::byte{0});
    CHECK(text_of(input.unread()) == std::string(unread, 'l'));
    receive_all(input, "more");
    CHECK(text_of(input.unread()) == std::string(unread, 'l') + "more");
}

TEST_CASE("lending gives the own buffer back", "[core][input]") {
    BufferPool pool(buffer_bytes);
    Input input(pool);
    const std::byte* buffer = input.room().data();
    receive_all(input, "a");
    input.consume(1);
    std::vector<std::byte> lent(1);
    input.lend(lent);
    CHECK(pool.take().get() == buffer);
}

TEST_CASE("an input passes on any stream of bytes whatever the sizes of the steps", "[core][input]") {
    BufferPool pool(buffer_bytes);
    Input input(pool);
    std::string expected;
    std::string taken;
    unsigned seed = 12345;
    const auto next = [&seed](unsigned below) {
        return (seed = seed * 1103515245 + 12345) / 65536 % below;
    };
    for (int step = 0; step < 5000; ++step) {
        std::string piece(next(100), static_cast<char>('a' + step % 26));
        expected += piece;
        receive_all(input, piece);
        const std::size_t take = next(static_cast<unsigned>(input.unread().size()) + 1);
        taken += text_of(input.unread().first(take));
        input.consume(take);
        input.release();
    }
    taken += text_of(input.unread());
    CHECK(taken == expected);
}
