#include "core/topic.hpp"

#include "support/catch.hpp"

using namespace telegate;

TEST_CASE("a topic part is 1 to 64 of a to z, digits, underscore, dot and dash", "[core][topic]") {
    auto [text, valid] = GENERATE(table<std::string, bool>({{"cpu.user", true},
                                                            {"a", true},
                                                            {"0_.-9", true},
                                                            {std::string(64, 'x'), true},
                                                            {std::string(65, 'x'), false},
                                                            {"", false},
                                                            {".", false},
                                                            {"..", false},
                                                            {"...", true},
                                                            {"Cpu", false},
                                                            {"cpu/user", false},
                                                            {"cpu user", false},
                                                            {"cpu$gap", false},
                                                            {"h\xC3\xB6he", false},
                                                            {std::string("a\0b", 3), false}}));
    CAPTURE(text);
    CHECK(is_topic_part(text) == valid);
}

TEST_CASE("any text has a nearest topic part", "[core][topic]") {
    auto [text, part] = GENERATE(table<std::string, std::string>({{"cpu.user", "cpu.user"},
                                                                  {"Core 0", "core_0"},
                                                                  {"/dev/sda1", "_dev_sda1"},
                                                                  {"", "_"},
                                                                  {".", "_"},
                                                                  {"..", "__"},
                                                                  {"\xC3\xB6", "__"},
                                                                  {std::string(70, 'A'), std::string(64, 'a')}}));
    CAPTURE(text);
    CHECK(to_topic_part(text) == part);
    CHECK(is_topic_part(to_topic_part(text)));
}

TEST_CASE("every byte value becomes a valid topic part", "[core][topic]") {
    const int byte = GENERATE(range(0, 256));
    CAPTURE(byte);
    CHECK(is_topic_part(to_topic_part(std::string(3, static_cast<char>(byte)))));
}
