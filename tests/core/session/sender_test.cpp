#include "session/sender.hpp"

#include "core/limits.hpp"
#include "support/catch.hpp"
#include "support/faulty_stream.hpp"
#include "support/receiver_transcript.hpp"
#include "support/zmtp_text.hpp"

#include <array>
#include <memory>
#include <random>
#include <string>

using namespace telegate;
using test::command;
using test::message;

namespace {

constexpr std::size_t any_budget = 1 << 30;

/// A sender with a stream that the test scripts.
struct SenderLine {
    SegmentPool pool{4096};
    Outbox outbox{pool};
    Sender sender{outbox};
    std::shared_ptr<test::Wire> wire = std::make_shared<test::Wire>();
    test::FaultyStream stream{wire};

    void append(const std::string& topic, const std::string& payload) {
        const std::array<Bytes, 2> frames = {as_bytes(topic), as_bytes(payload)};
        outbox.append(frames);
    }
    Sender::Status write(std::size_t budget = any_budget) { return sender.write(stream, budget); }
    [[nodiscard]] bool adds_up() const {
        return outbox.matched() == outbox.sent() + outbox.dropped() + outbox.backlog().messages();
    }
};

/// Like SenderLine, with a cipher and that of the far end.
struct SealedSenderLine : SenderLine {
    zmtp::CurveCipher sealing{CurveKey{}, false, 1, 1};
    zmtp::CurveCipher opening{CurveKey{}, true, 1, 1};

    SealedSenderLine() { sender.begin_messages(&sealing); }
    test::Transcript open() {
        Receiver receiver(1 << 30, 1000);
        receiver.set_cipher(&opening);
        return test::feed(receiver, as_bytes(wire->written), {100'000});
    }
};

}  // namespace

TEST_CASE("before the handshake is done only its bytes are sent", "[core][session][sender]") {
    SenderLine line;
    line.append("t", "waits");
    line.sender.add_raw(as_bytes("greeting"));
    CHECK(line.write() == Sender::Status::done);
    CHECK(line.wire->written == "greeting");
    line.sender.begin_messages(nullptr);
    CHECK(line.write() == Sender::Status::done);
    CHECK(line.wire->written == "greeting" + message("t", "waits"));
    CHECK(line.sender.empty());
    CHECK(line.sender.bytes_written() == line.wire->written.size());
}

TEST_CASE("a command is sent before the next message, never inside one", "[core][session][sender]") {
    SenderLine line;
    line.sender.begin_messages(nullptr);
    line.append("t", "one");
    line.append("t", "two");
    line.wire->room = GENERATE(range<std::size_t>(0, 17));
    const std::size_t sent_before = line.wire->room;
    CHECK(line.write() == (sent_before < 16 ? Sender::Status::full : Sender::Status::done));
    CHECK(line.sender.add_control(as_bytes(command("PONG", "ctx"))));
    line.wire->room = test::Wire::no_limit;
    CHECK(line.write() == Sender::Status::done);
    const std::string pong = command("PONG", "ctx");
    const std::string one = message("t", "one");
    const std::string two = message("t", "two");
    const std::string expected = sent_before == 0            ? pong + one + two
                                 : sent_before <= one.size() ? one + pong + two
                                                             : one + two + pong;
    CHECK(line.wire->written == expected);
}

TEST_CASE("written a byte at a time, each message counts with its last byte", "[core][session][sender]") {
    SenderLine line;
    line.sender.begin_messages(nullptr);
    line.wire->write_bytes_max = 1;
    for (int number = 0; number < 10; ++number) {
        line.append("t", std::to_string(number));
    }
    const std::size_t size = message("t", "0").size();
    for (std::size_t bytes = 1; bytes <= 10 * size; ++bytes) {
        CHECK(line.write() == (bytes == 10 * size ? Sender::Status::done : Sender::Status::full));
        CHECK(line.outbox.sent() == bytes / size);
        CHECK(line.adds_up());
    }
}

TEST_CASE("an iteration's budget ends the writing", "[core][session][sender]") {
    SenderLine line;
    line.sender.begin_messages(nullptr);
    for (int count = 0; count < 1000; ++count) {
        line.append("t", std::string(4000, 'x'));
    }
    CHECK(line.write(300'000) == Sender::Status::partial);
    CHECK(line.wire->written.size() >= 300'000);
    CHECK(line.wire->written.size() < 300'000 + 2 * 4096);  // whole segments
    CHECK(line.write(any_budget) == Sender::Status::done);
}

TEST_CASE("commands that the peer does not read stay within their limit", "[core][session][sender]") {
    SenderLine line;
    line.sender.begin_messages(nullptr);
    line.wire->room = 0;
    const std::string pong = command("PONG", "0123456789abcdef");
    std::size_t taken = 0;
    while (line.sender.add_control(as_bytes(pong))) {
        taken += pong.size();
    }
    CHECK(taken <= limits::control_bytes_max);
    CHECK(taken + pong.size() > limits::control_bytes_max);
    line.wire->room = pong.size();
    CHECK(line.write() == Sender::Status::full);
    CHECK(line.sender.add_control(as_bytes(pong)));
    CHECK_FALSE(line.sender.add_control(as_bytes(pong)));
}

TEST_CASE("a stream error is passed on, and the end of the stream is a broken pipe", "[core][session][sender]") {
    SenderLine line;
    line.sender.begin_messages(nullptr);
    line.append("t", "one");
    line.wire->fail_at = 1;
    line.wire->error = GENERATE(ECONNRESET, ETIMEDOUT, 0);
    CHECK(line.write() == Sender::Status::failed);
    CHECK(line.sender.error() == (line.wire->error == 0 ? EPIPE : line.wire->error));
    CHECK(line.outbox.sent() == 0);
}

TEST_CASE("sealed messages and commands arrive unchanged", "[core][session][sender]") {
    SealedSenderLine line;
    line.append("a", "one");
    CHECK(line.sender.add_control(as_bytes(command("PING", "12"))));
    line.append("", std::string(200'000, 'x'));
    line.append("c", "");
    line.wire->write_bytes_max = GENERATE(std::size_t{1'000}, std::size_t{1'000'000});
    while (line.write() == Sender::Status::full) {
        CHECK(line.adds_up());
    }
    const test::Transcript result = line.open();
    CHECK(result.fault.empty());
    CHECK(result.messages == "(a|one)(|" + std::string(200'000, 'x') + ")(c|)");
    CHECK(result.commands == "<\4PING12>");
    CHECK(line.outbox.sent() == 3);
    CHECK(line.sender.empty());
}

TEST_CASE("a sealed message counts as sent only with the last of its sealed bytes", "[core][session][sender]") {
    SealedSenderLine line;
    for (int number = 0; number < 5; ++number) {
        line.append("t", std::to_string(number));
    }
    line.wire->write_bytes_max = 1;
    const std::size_t size = 2 * zmtp::CurveCipher::sealed_bytes(1);
    for (std::size_t bytes = 1; bytes <= 5 * size; ++bytes) {
        (void)line.write();
        REQUIRE(line.outbox.sent() == bytes / size);
        REQUIRE(line.adds_up());
    }
}

TEST_CASE("sealed messages are finished when the backlog drops messages, and the others are counted",
          "[core][session][sender]") {
    SealedSenderLine line;
    SegmentPool pool(256);
    SegmentLog log(pool);
    const auto add = [&](int number) {
        const std::string wire = message("t", std::to_string(number));
        std::memcpy(log.prepare(wire.size()), wire.data(), wire.size());
        line.outbox.add(log.commit(wire.size()));
    };
    for (int number = 10; number < 60; ++number) {
        add(number);
    }
    line.wire->room = 100;
    CHECK(line.write() == Sender::Status::full);
    for (int number = 60; number < 90; ++number) {
        add(number);
    }
    line.outbox.drop_before(log.end());
    CHECK(line.outbox.dropped() == 30);
    add(99);
    line.wire->room = test::Wire::no_limit;
    CHECK(line.write() == Sender::Status::done);
    std::string expected;
    for (int number = 10; number < 60; ++number) {
        expected += "(t|" + std::to_string(number) + ")";
    }
    CHECK(line.open().messages == expected + "(t|99)");
    CHECK(line.outbox.sent() == 51);
    CHECK(line.adds_up());
}

TEST_CASE("a large sealed message after a small one counts as sent, even if its run is dropped",
          "[core][session][sender]") {
    SealedSenderLine line;
    SegmentPool pool(1024 * 1024);
    SegmentLog log(pool);
    const std::string large(200'000, 'x');
    for (const std::string& wire : {message("t", "one"), message("t", large), message("t", "late")}) {
        std::memcpy(log.prepare(wire.size()), wire.data(), wire.size());
        line.outbox.add(log.commit(wire.size()));
    }
    line.wire->room = GENERATE(std::size_t{10}, std::size_t{1'000});  // within the first message, or the second
    const bool in_first = line.wire->room == 10;
    CHECK(line.write() == Sender::Status::full);
    line.outbox.drop_before(log.end());
    CHECK(line.outbox.dropped() == (in_first ? 2U : 1U));
    CHECK(pool.held_bytes() == (in_first ? 0U : 1024U * 1024U));
    line.wire->room = test::Wire::no_limit;
    CHECK(line.write() == Sender::Status::done);
    CHECK((line.open().messages == "(t|one)" + (in_first ? "" : "(t|" + large + ")")));
    CHECK(line.outbox.sent() == (in_first ? 1U : 2U));
    CHECK(pool.held_bytes() == 0);
    CHECK(line.adds_up());
}

TEST_CASE("whatever is written, dropped and added, sealed messages arrive whole and the counts add up",
          "[core][session][sender]") {
    const unsigned seed = GENERATE(range(1U, 15U));
    CAPTURE(seed);
    std::mt19937 random(seed);
    SegmentPool pool(1024);
    SegmentLog log(pool);
    const bool sealed = seed % 2 == 0;
    SealedSenderLine line;
    if (!sealed) {
        line.sender.begin_messages(nullptr);
    }
    for (int number = 0; number < 3'000; ++number) {
        const std::string wire = message(std::to_string(number), std::string(random() % 300, 'p'));
        std::memcpy(log.prepare(wire.size()), wire.data(), wire.size());
        line.outbox.add(log.commit(wire.size()));
        if (random() % 5 == 0) {
            (void)log.commit(0);
            std::memcpy(log.prepare(1), "x", 1);
            (void)log.commit(1);
        }
        if (random() % 3 == 0) {
            line.wire->room = random() % 1000;
            (void)line.write();
        }
        if (random() % 20 == 0) {
            line.outbox.drop_before(log.end() - random() % 3000);
        }
        if (random() % 50 == 0) {
            (void)line.sender.add_control(as_bytes(command("PONG", "")));
        }
        REQUIRE(line.adds_up());
    }
    line.wire->room = test::Wire::no_limit;
    CHECK(line.write() == Sender::Status::done);
    Receiver receiver(1 << 30, 1000);
    if (sealed) {
        receiver.set_cipher(&line.opening);
    }
    const test::Transcript result = test::feed(receiver, as_bytes(line.wire->written), {100'000});
    CHECK(result.fault.empty());
    CHECK(std::count(result.messages.begin(), result.messages.end(), '(') ==
          static_cast<std::ptrdiff_t>(line.outbox.sent()));
    CHECK(line.outbox.backlog().empty());
}

TEST_CASE("a sender knows whether a message is partly written", "[core][session][sender]") {
    SenderLine line;
    CHECK_FALSE(line.sender.is_within_message());
    line.sender.add_raw(as_bytes("greeting"));
    line.wire->room = 4;
    CHECK(line.write() == Sender::Status::full);
    CHECK_FALSE(line.sender.is_within_message());
    line.sender.begin_messages(nullptr);
    line.append("t", "first");
    line.append("t", "second");
    const std::size_t first = message("t", "first").size();
    line.wire->room = 4 + first;
    CHECK(line.write() == Sender::Status::full);
    CHECK_FALSE(line.sender.is_within_message());
    line.wire->room = 1;
    CHECK(line.write() == Sender::Status::full);
    CHECK(line.sender.is_within_message());
    line.wire->room = test::Wire::no_limit;
    CHECK(line.write() == Sender::Status::done);
    CHECK_FALSE(line.sender.is_within_message());
}

TEST_CASE("a message that is sealed is partly written with the first of its sealed bytes", "[core][session][sender]") {
    SealedSenderLine line;
    REQUIRE(line.sender.add_control(as_bytes(test::ping("x"))));
    line.append("t", "first");
    line.append("t", "second");
    line.wire->room = 0;
    CHECK(line.write() == Sender::Status::full);
    CHECK(line.outbox.backlog().is_under_way());
    CHECK_FALSE(line.sender.is_within_message());
    std::size_t changes = 0;
    bool was_within = false;
    while (line.outbox.sent() < 2) {
        line.wire->room = 1;
        (void)line.write();
        changes += line.sender.is_within_message() != was_within ? 1U : 0U;
        was_within = line.sender.is_within_message();
    }
    CHECK_FALSE(was_within);
    CHECK(changes == 4);  // into each message and out of it
}
