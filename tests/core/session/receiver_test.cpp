#include "session/receiver.hpp"

#include "core/limits.hpp"
#include "support/catch.hpp"
#include "support/receiver_transcript.hpp"
#include "support/zmtp_text.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <utility>

using namespace telegate;
using test::big_endian;
using test::command;
using test::frame;
using test::ReceiverSetting;
using test::Transcript;

namespace {

Transcript all_at_once(const std::string& wire, const ReceiverSetting& setting = {}) {
    return test::transcript(as_bytes(wire), {wire.size() + 1}, setting);
}

std::string long_form(unsigned flags, const std::string& body) {
    return big_endian(flags | 2U, 1) + big_endian(body.size(), 8) + body;
}

std::string fault_of(const std::string& wire, const ReceiverSetting& setting = {}) {
    return all_at_once(wire, setting).fault;
}

/// Returns examples of all allowed traffic.
std::string mixed_traffic() {
    return frame(0, "one") + frame(1, "topic") + frame(0, "payload") + command("PING", "12") + frame(0, "") +
           frame(1, "") + frame(1, "") + frame(0, "") + long_form(0, "small but long") + frame(1, "a") +
           command("PONG", "") + frame(1, std::string(300, 'b')) + command("PING", "34") + long_form(4, "\4PONG") +
           frame(0, "c") + frame(0, std::string(5000, 'd')) + command("SUBSCRIBE", "e") + frame(0, "last");
}

/// Returns many frames of all sizes, mostly short ones, and at some point a message of many frames.
std::string random_traffic(unsigned seed) {
    std::mt19937 random(seed);
    const auto below = [&random](unsigned end) {
        return static_cast<std::size_t>(random() % end);
    };
    std::string wire;
    for (int count = 0; count < 800; ++count) {
        const std::size_t kind = below(100);
        const std::string body(kind < 90 ? below(100) : below(600), static_cast<char>('a' + kind % 26));
        if (kind == 0) {
            wire += command("PING", "12");
        } else {
            const unsigned flags = below(100) < 40 ? 1U : 0U;
            wire += kind == 1 ? long_form(flags, body) : frame(flags, body);
        }
    }
    return wire;
}

}  // namespace

TEST_CASE("messages come out whole, with all their frames, in order", "[core][session][receiver]") {
    CHECK(all_at_once(frame(0, "one") + frame(1, "a") + frame(1, "") + frame(0, "b") + frame(0, "")).messages ==
          "(one)(a||b)()");
}

TEST_CASE("commands come out in their order, even between the frames of a message", "[core][session][receiver]") {
    const Transcript result =
        all_at_once(command("PING", "12") + frame(1, "a") + command("PONG", "") + frame(1, "b") + frame(0, "c"));
    CHECK(result.messages == "(a|b|c)");
    CHECK(result.commands == "<\4PING12><\4PONG>");
}

TEST_CASE("the long form of a small size is read like the short one", "[core][session][receiver]") {
    CHECK(all_at_once(long_form(1, "a") + long_form(0, "") + long_form(4, "\4PONG")).messages == "(a|)");
}

TEST_CASE("no part of an unfinished message is delivered", "[core][session][receiver]") {
    const Transcript result = all_at_once(frame(0, "whole") + frame(1, "half") + frame(1, "more"));
    CHECK(result.messages == "(whole)");
    CHECK(result.fault.empty());
}

TEST_CASE("however the bytes are split, the result is the same", "[core][session][receiver]") {
    const std::string wire = mixed_traffic();
    const Transcript whole = all_at_once(wire);
    CHECK(whole.fault.empty());
    for (std::size_t piece = 1; piece < 400; ++piece) {
        CAPTURE(piece);
        CHECK(test::transcript(as_bytes(wire), {piece}).same_as(whole));
    }
    for (const unsigned seed : {1U, 2U, 3U, 4U, 5U}) {
        CAPTURE(seed);
        std::mt19937 random(seed);
        std::vector<std::size_t> pieces(50);
        std::generate(pieces.begin(), pieces.end(), [&] { return 1 + random() % 50; });
        CHECK(test::transcript(as_bytes(wire), pieces, {.buffer_bytes = 64}).same_as(whole));
    }
}

TEST_CASE("an iteration ends with its budget of frames, and the next one continues", "[core][session][receiver]") {
    const std::string wire = mixed_traffic();
    const Transcript whole = all_at_once(wire);
    for (std::size_t frames = 1; frames < 10; ++frames) {
        CAPTURE(frames);
        CHECK(all_at_once(wire, {.frames_per_turn = frames}).same_as(whole));
        CHECK(test::transcript(as_bytes(wire), {7}, {.frames_per_turn = frames}).same_as(whole));
    }
}

TEST_CASE("long runs of frames come out the same whatever the limits, iterations and reads",
          "[core][session][receiver]") {
    const auto seed = GENERATE(1U, 2U, 3U, 4U);
    const auto bytes_max = GENERATE(std::size_t{300}, std::size_t{3'000}, std::size_t{64 * 1024});
    const auto frames_max = GENERATE(std::size_t{3}, std::size_t{20}, std::size_t{1'000});
    CAPTURE(seed, bytes_max, frames_max);
    const std::string wire = random_traffic(seed);
    const ReceiverSetting in_one{
        .buffer_bytes = 64 * 1024, .message_bytes_max = bytes_max, .frames_per_message_max = frames_max};
    const Transcript whole = test::transcript(as_bytes(wire), {1}, in_one);
    const bool has_no_limits = bytes_max == 64 * 1024 && frames_max == 1'000;
    CHECK((whole.fault.empty() || !has_no_limits));
    CHECK((!whole.fault.empty() || bytes_max > 300));
    CHECK(all_at_once(wire, in_one).same_as(whole));
    for (const std::size_t frames_per_turn : {1U, 2U, 100U, 257U, 1'000U}) {
        CAPTURE(frames_per_turn);
        ReceiverSetting setting = in_one;
        setting.frames_per_turn = frames_per_turn;
        CHECK(all_at_once(wire, setting).same_as(whole));
        CHECK(test::transcript(as_bytes(wire), {1'000, 3, 700}, setting).same_as(whole));
    }
}

TEST_CASE("a run ends where the next frame is incomplete, even by one byte", "[core][session][receiver]") {
    const std::size_t before = GENERATE(0U, 1U, 4U, 50U);
    const std::string last = GENERATE(frame(0, ""), frame(0, std::string(255, 'x')), frame(0, std::string(256, 'x')),
                                      frame(1, "a") + frame(0, "b"));
    const ReceiverSetting setting{.buffer_bytes = 64 * 1024};
    for (std::size_t odd = 0; odd <= 255; ++odd) {
        std::string wire = frame(0, std::string(odd, 'o'));
        for (std::size_t count = 0; count < before; ++count) {
            wire += frame(1, "topic") + frame(0, std::string(100, 'p'));
        }
        const std::string expected = all_at_once(wire, setting).messages;
        for (const std::size_t missing : {std::size_t{1}, std::size_t{2}, last.size()}) {
            CAPTURE(before, odd, last.size(), missing);
            const std::string cut = (wire + last).substr(0, wire.size() + last.size() - missing);
            REQUIRE(all_at_once(cut, setting).messages == expected);
        }
    }
}

TEST_CASE("an iteration's budget of frames is kept however small they are", "[core][session][receiver]") {
    constexpr std::size_t count = 30'000;
    std::string wire;
    for (std::size_t number = 0; number < count; ++number) {
        wire += frame(0, "");
    }
    const std::size_t budget = GENERATE(1U, 128U, 129U, 1'000U, 4'096U, 1'000'000U);
    BufferPool pool(64 * 1024);
    Input input(pool);
    std::memcpy(input.room().data(), wire.data(), wire.size());
    input.received(wire.size());
    Receiver receiver(1'000, 1'000);
    std::size_t taken = 0;
    while (taken < count) {
        MessageBatch batch;
        std::size_t left = budget;
        (void)receiver.decode(input, batch, left);
        REQUIRE(batch.size() == std::min(budget, count - taken));
        REQUIRE(left == budget - batch.size());
        taken += batch.size();
    }
    CHECK(input.unread().empty());
}

TEST_CASE("reserved flags are a violation at the first byte", "[core][session][receiver]") {
    const auto bit = GENERATE(range(3U, 8U));
    CHECK(fault_of(big_endian(1U << bit, 1)) == "reserved frame flag set");
    CHECK(fault_of(frame(0, "a") + big_endian(1U << bit, 1) + "\2ab") == "reserved frame flag set");
}

TEST_CASE("a command with MORE is a violation", "[core][session][receiver]") {
    CHECK(fault_of(frame(5, "\4PING")) == "command frame with MORE");
    CHECK(fault_of("\7") == "command frame with MORE");
}

TEST_CASE("messages before a violation are delivered once, and nothing after it is", "[core][session][receiver]") {
    const std::string wire = frame(0, "good") + frame(1, "half") + "\x80" + frame(0, "after");
    Receiver receiver(1000, 1000);
    Transcript result = test::feed(receiver, as_bytes(wire), {100});
    CHECK(result.messages == "(good)");
    CHECK(result.fault == "reserved frame flag set");
    result = test::feed(receiver, as_bytes(frame(0, "fine")), {100});
    CHECK(result.messages.empty());
    CHECK(result.fault == "reserved frame flag set");
}

TEST_CASE("message sizes that are not allowed are refused before any memory is allocated",
          "[core][session][receiver]") {
    const auto [size, fault] = GENERATE(table<std::uint64_t, std::string>({
        {std::uint64_t{1} << 63U, "frame size with bit 63 set"},
        {~std::uint64_t{0}, "frame size with bit 63 set"},
        {(std::uint64_t{1} << 63U) - 1, "message over the size limit"},
        {std::uint64_t{1} << 32U, "message over the size limit"},
        {(std::uint64_t{1} << 32U) + 5, "message over the size limit"},
        {64 * 1024 - 8, "message over the size limit"},
    }));
    const Transcript result = all_at_once(big_endian(2, 1) + big_endian(size, 8) + "body");
    CHECK(result.fault == fault);
    CHECK(result.unread_bytes_max == 13);
}

TEST_CASE("a huge allowed size takes no more memory than the bytes that have arrived", "[core][session][receiver]") {
    constexpr std::size_t huge = std::numeric_limits<std::size_t>::max() / 4;
    const std::string wire = big_endian(2, 1) + big_endian(huge, 8) + std::string(10'000, 'x');
    Receiver receiver(2 * huge, 10);
    const Transcript result = test::feed(receiver, as_bytes(wire), {100});
    CHECK(result.fault.empty());
    CHECK(result.messages.empty());
    CHECK(result.unread_bytes_max == wire.size());
}

TEST_CASE("the limit applies to the message with all its frames and headers", "[core][session][receiver]") {
    const ReceiverSetting setting{.message_bytes_max = 100};
    CHECK(fault_of(frame(0, std::string(98, 'x')) + frame(0, std::string(98, 'y')), setting).empty());
    CHECK(fault_of(frame(0, std::string(99, 'x')), setting) == "message over the size limit");
    CHECK(fault_of(frame(1, std::string(48, 'x')) + frame(0, std::string(48, 'x')), setting).empty());
    CHECK(fault_of(frame(1, std::string(48, 'x')) + frame(0, std::string(49, 'x')), setting) ==
          "message over the size limit");
}

TEST_CASE("an endless series of frames in one message ends at the limit", "[core][session][receiver]") {
    std::string wire;
    for (int count = 0; count < 11; ++count) {
        wire += frame(1, "");
    }
    CHECK(fault_of(wire, {.frames_per_message_max = 11}).empty());
    CHECK(fault_of(wire, {.frames_per_message_max = 10}) == "message with too many frames");
    CHECK(test::transcript(as_bytes(wire), {1}, {.frames_per_message_max = 10}).fault ==
          "message with too many frames");
}

TEST_CASE("an endless series of commands inside one message ends at its limit in bytes", "[core][session][receiver]") {
    std::string wire = frame(1, "a");
    for (int count = 0; count < 100; ++count) {
        wire += command("PING", "12");
    }
    CHECK(fault_of(wire, {.message_bytes_max = 100}) == "message over the size limit");
}

TEST_CASE("a command with a long size but without the flag, as libzmq sends it, is read", "[core][session][receiver]") {
    const std::string body = "\x09SUBSCRIBE" + std::string(246, 't');
    const Transcript result = all_at_once(big_endian(4, 1) + big_endian(body.size(), 8) + body + frame(0, "next"));
    CHECK(result.fault.empty());
    CHECK(result.commands == "<" + body + ">");
}

TEST_CASE("a short empty command comes out as soon as it cannot be a long one from libzmq",
          "[core][session][receiver]") {
    const auto [zeros, next] =
        GENERATE(table<std::size_t, char>({{1, '\1'}, {1, '\4'}, {5, '\1'}, {6, '\2'}, {6, '\0'}}));
    CAPTURE(zeros);
    const std::string begin = '\4' + std::string(zeros, '\0');
    CHECK(all_at_once(begin).commands.empty());
    CHECK(all_at_once(begin + next).commands.starts_with("<>"));
}

TEST_CASE("a command has a separate limit", "[core][session][receiver]") {
    CHECK(fault_of(frame(4, std::string(limits::command_bytes_max, 'x')), {.message_bytes_max = 100}).empty());
    CHECK(fault_of(frame(4, std::string(limits::command_bytes_max + 1, 'x'))) == "command over the size limit");
    CHECK(fault_of(big_endian(6, 1) + big_endian(1 << 20, 8)) == "command over the size limit");
}

TEST_CASE("a message of many frames that arrives in small pieces takes proportional time",
          "[core][session][receiver]") {
    std::string wire;
    for (int count = 0; count < 999; ++count) {
        wire += frame(1, "frame");
    }
    wire += frame(0, std::string(200'000, 'x'));
    Receiver receiver(1'000'000, 1'000);
    const Transcript result = test::feed(receiver, as_bytes(wire), {1});
    CHECK(result.messages.size() > 200'000);
    CHECK(result.fault.empty());
}

namespace {

/// One direction of a CURVE connection.
struct SealedReceiverLine {
    std::unique_ptr<zmtp::CurveCipher> sealing = std::make_unique<zmtp::CurveCipher>(CurveKey{}, false, 1, 1);
    std::unique_ptr<zmtp::CurveCipher> opening = std::make_unique<zmtp::CurveCipher>(CurveKey{}, true, 1, 1);

    std::string seal(unsigned flags, const std::string& body) const {
        std::string wire(zmtp::CurveCipher::sealed_bytes(body.size()), '\0');
        const std::size_t bytes =
            sealing->seal(reinterpret_cast<std::byte*>(wire.data()), static_cast<std::uint8_t>(flags), as_bytes(body));
        REQUIRE(bytes == wire.size());
        return wire;
    }
    Transcript receive(const std::string& wire, std::size_t piece) const {
        Receiver receiver(64 * 1024, 1000);
        receiver.set_cipher(opening.get());
        return test::feed(receiver, as_bytes(wire), {piece});
    }
};

}  // namespace

TEST_CASE("sealed frames are opened once each, and the inner flags count", "[core][session][receiver]") {
    const SealedReceiverLine line;
    std::string wire;
    for (const auto& [flags, body] : {std::pair(0U, "one"), {1U, "a"}, {4U, "\4PING12"}, {1U, ""}}) {
        wire += line.seal(flags, body);
    }
    wire += line.seal(0, std::string(1000, 'b'));
    wire += line.seal(0, "");
    const auto piece = GENERATE(std::size_t{1}, std::size_t{2}, std::size_t{10}, std::size_t{60}, std::size_t{10'000});
    const Transcript result = line.receive(wire, piece);
    CHECK(result.fault.empty());
    CHECK(result.messages == "(one)(a||" + std::string(1000, 'b') + ")()");
    CHECK(result.commands == "<\4PING12>");
}

TEST_CASE("a sealed frame that is changed, repeated or not sealed is a violation", "[core][session][receiver]") {
    const SealedReceiverLine line;
    const std::string first = line.seal(0, "one");
    std::string changed = line.seal(0, "two");
    changed.back() = static_cast<char>(changed.back() ^ 1);
    CHECK(line.receive(first + first, 10'000).fault == "cannot decrypt frame");
    CHECK(line.receive(changed, 10'000).fault == "cannot decrypt frame");
    CHECK(line.receive(frame(0, "in clear"), 10'000).fault == "cannot decrypt frame");
    CHECK(line.receive(frame(4, "\4PING12"), 10'000).fault == "cannot decrypt frame");
}

TEST_CASE("a sealed frame must not have MORE outside, nor an inner command over the limit",
          "[core][session][receiver]") {
    const SealedReceiverLine line;
    std::string more = line.seal(0, "one");
    more[0] = static_cast<char>(more[0] | 1);
    CHECK(line.receive(more, 10'000).fault == "sealed frame with MORE");
    CHECK(line.receive(line.seal(4, std::string(limits::command_bytes_max + 1, 'x')), 10'000).fault ==
          "command over the size limit");
}

TEST_CASE("a sealed frame over the limit is refused, whatever its outer flags are", "[core][session][receiver]") {
    const SealedReceiverLine line;
    const auto flags = GENERATE(2U, 6U);
    CHECK(line.receive(big_endian(flags, 1) + big_endian(64 * 1024, 8), 10'000).fault == "message over the size limit");
}
