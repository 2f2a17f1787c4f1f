#include "nats/nats_parser.hpp"

#include "support/catch.hpp"

#include <cstddef>
#include <string>

namespace telegate::uplink {
namespace {

std::string text_of(const NatsOperation& operation) {
    return std::to_string(static_cast<int>(operation.kind)) + '|' + std::string(operation.subject) + '|' +
           std::string(operation.head) + '|' + std::string(operation.body) + '\n';
}

/// Returns the operations of bytes that arrive in pieces of this size, and the fault.
std::string parsed(const std::string& bytes, std::size_t piece) {
    NatsParser parser;
    std::string all;
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
        parser.add(std::string_view(bytes).substr(at, piece));
        while (const auto operation = parser.next()) {
            all += text_of(*operation);
        }
    }
    return all + parser.fault();
}

}  // namespace

TEST_CASE("the operations of a server are the same however its bytes arrive", "[uplink][nats]") {
    const std::string bytes =
        "INFO {\"a\":1}\r\n+OK\r\nPING\r\nMSG s 1 5\r\nab\r\nc\r\nHMSG s 1 r 12 14\r\nNATS/1.0\r\n\r\nxy\r\nMSG s 1 "
        "0\r\n\r\n"
        "-ERR 'Some Text'\r\nPONG\r\n";
    const std::string expected =
        "0|||{\"a\":1}\n5|||\n3|||\n1|s||ab\r\nc\n1|s|NATS/1.0\r\n\r\n|xy\n1|s||\n2|||Some Text\n4|||\n";
    for (std::size_t piece = 1; piece <= bytes.size(); ++piece) {
        CHECK(parsed(bytes, piece) == expected);
    }
}

TEST_CASE("bytes that no server sends are a fault, and so are operations that are too large", "[uplink][nats]") {
    const auto [bytes, fault] = GENERATE(Catch::Generators::table<std::string, std::string>(
        {{"\r\n", "Unexpected protocol"},
         {"MSG s 1\r\n", "Unexpected protocol"},
         {"MSG s 1 r x 5\r\n", "Unexpected protocol"},
         {"MSG s 1 -5\r\n", "Unexpected protocol"},
         {"HMSG s 1 9 5\r\n", "Unexpected protocol"},
         {"MSG s 1 262145\r\n", "the server sent a message of 262145 bytes, and at most 262144 are read"},
         {"INFO " + std::string(NatsParser::line_bytes_max, 'x'), "the server sent a line of more than 65536 bytes"}}));
    CAPTURE(bytes.substr(0, 20));
    CHECK(parsed(bytes, bytes.size()) == fault);
    CHECK(parsed(bytes + "PING\r\n", 7) == fault);
}

}  // namespace telegate::uplink
