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

/// Fills the free space with as much of the text as fits. Returns the number of bytes.
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

TEST_CASE("an input returns bytes in the order in which it received them", "[core][input]") {
    BufferPool pool(buffer_bytes);
    Input input(pool);
    receive_all(input, "hello ");
    receive_all(input, "world");
    CHECK(text_of(input.unread()) == "hello world");
    input.consume(6);
    CHECK(text_of(input.unread()) == "world");
}

TEST_CASE("an input always has free space, and more than a few bytes after its front was consumed", "[core][input]") {
    BufferPool pool(buffer_bytes);
    Input input(pool);
    CHECK(input.room().size() == buffer_bytes);
    receive_all(input, std::string(60, 'a') + "bcde");
    input.consume(60);
    CHECK(input.room().size() == buffer_bytes - 4);
    CHECK(text_of(input.unread()) == "bcde");
}

TEST_CASE("consumed bytes stay in place until free space is requested", "[core][input]") {
    BufferPool pool(buffer_bytes);
    Input input(pool);
    receive_all(input, "abcdef");
    const std::span<const std::byte> taken = input.unread().first(3);
    input.consume(3);
    CHECK(text_of(taken) == "abc");
    CHECK(text_of(input.unread()) == "def");
}

TEST_CASE("the buffer doubles while a message larger than the buffer arrives", "[core][input]") {
    BufferPool pool(buffer_bytes);
    Input input(pool);
    const std::string message(1000, 'm');
    std::size_t sent = 0;
    while (sent < message.size()) {
        CHECK(input.room().size() <= std::max(buffer_bytes, sent));  // never more free space than has arrived
        sent += receive(input, std::string_view(message).substr(sent));
    }
    CHECK(text_of(input.unread()) == message);
}

TEST_CASE("a released buffer of the usual size returns to the pool, a larger one is freed", "[core][input]") {
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

TEST_CASE("release keeps unread data", "[core][input]") {
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

TEST_CASE("room() copies unread data out of lent memory, whatever its size", "[core][input]") {
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

TEST_CASE("lending memory returns the buffer to the pool", "[core][input]") {
    BufferPool pool(buffer_bytes);
    Input input(pool);
    const std::byte* buffer = input.room().data();
    receive_all(input, "a");
    input.consume(1);
    std::vector<std::byte> lent(1);
    input.lend(lent);
    CHECK(pool.acquire().get() == buffer);
}

TEST_CASE("an input passes on any byte stream, whatever the sizes of the steps", "[core][input]") {
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
