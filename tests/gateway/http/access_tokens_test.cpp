#include "http/access_tokens.hpp"

#include "support/catch.hpp"
#include "support/scratch_file.hpp"

#include <sys/stat.h>

#include <cstdlib>
#include <string>

using namespace telegate;
using namespace telegate::test;

namespace {

std::string line(const std::string& role, const std::string& name, const std::string& token) {
    return role + ' ' + name + ' ' + token + '\n';
}

const std::string shortest_token(AccessTokens::token_bytes_min, 't');

}  // namespace

TEST_CASE("every token is found, with its holder", "[gateway][access]") {
    ScratchDir folder;
    const AccessTokens tokens = AccessTokens::load(write_private(
        folder, "tokens",
        "# a comment\n" + line("admin", "a", shortest_token) + line("reader", "b", shortest_token + "x")));
    CHECK(tokens.size() == 2);
    REQUIRE(tokens.find(shortest_token) != nullptr);
    CHECK(tokens.find(shortest_token)->name == "a");
    CHECK(tokens.find(shortest_token)->role == HttpRole::admin);
    REQUIRE(tokens.find(shortest_token + "x") != nullptr);
    CHECK(tokens.find(shortest_token + "x")->role == HttpRole::reader);
    CHECK(tokens.find("") == nullptr);
    CHECK(tokens.find(shortest_token.substr(1)) == nullptr);
}

TEST_CASE("a bad line is named with what is allowed, and without its token", "[gateway][access]") {
    ScratchDir folder;
    const auto [text, fault] = GENERATE_COPY(table<std::string, std::string>({
        {line("owner", "a", shortest_token), ":1: allowed: ROLE NAME TOKEN"},
        {"admin a\n", ":1: allowed: ROLE NAME TOKEN"},
        {line("admin", "a", shortest_token + " more"), ":1: allowed: ROLE NAME TOKEN"},
        {"\n" + line("admin", "a", shortest_token.substr(1)), ":2: the token of a is not allowed, allowed: 16 to 256"},
        {line("admin", "a", std::string(257, 't')), ":1: the token of a is not allowed"},
        {line("admin", "a", shortest_token + "\xc3\xa4"), ":1: the token of a is not allowed"},
        {line("admin", "\"a\"", shortest_token), ":1: the name is not allowed"},
        {line("admin", "a", shortest_token) + line("reader", "b", shortest_token),
         ":2: the token of b is that of a too"},
        {"# nothing\n", ": holds no token"},
    }));
    CAPTURE(text);
    const std::string path = write_private(folder, "tokens", text);
    try {
        (void)AccessTokens::load(path);
        FAIL("it was taken");
    } catch (const std::runtime_error& error) {
        CHECK_THAT(error.what(), Catch::StartsWith(path + fault));
        CHECK_THAT(error.what(), !Catch::Contains(shortest_token.substr(1)));
    }
}

TEST_CASE("a file that everybody may read is refused, with the way out", "[gateway][access]") {
    ScratchDir folder;
    const std::string path = write_private(folder, "tokens", line("admin", "a", shortest_token));
    REQUIRE(::chmod(path.c_str(), 0644) == 0);
    CHECK_THROWS_WITH(AccessTokens::load(path), path +
                                                    ": has mode 0644, so it may be read by every user of this machine, "
                                                    "allowed: a file closed to others, as by chmod o= " +
                                                    path);
    REQUIRE(::chmod(path.c_str(), 0602) == 0);
    CHECK_THROWS_WITH(AccessTokens::load(path), Catch::Contains("has mode 0602, so it may be written by"));
}

TEST_CASE("what is no file is refused", "[gateway][access]") {
    ScratchDir folder;
    CHECK_THROWS_WITH(AccessTokens::load(folder.path("none")), Catch::Contains("No such file"));
    CHECK_THROWS(AccessTokens::load(folder.path()));
    CHECK_THROWS_WITH(AccessTokens::load(write_private(folder, "long", std::string(200'000, '#'))),
                      Catch::Contains("too long"));
}

TEST_CASE("only so many bad lines are told, and the rest is counted", "[gateway][access]") {
    ScratchDir folder;
    std::string text;
    for (std::size_t number = 0; number < AccessTokens::faults_max + 5; ++number) {
        text += "nonsense\n";
    }
    try {
        (void)AccessTokens::load(write_private(folder, "tokens", text));
        FAIL("it was taken");
    } catch (const TokensError& error) {
        REQUIRE(error.faults().size() == AccessTokens::faults_max + 1);
        CHECK_THAT(error.faults().back(), Catch::EndsWith(": 5 more lines are wrong"));
    }
}

TEST_CASE("one token too many is refused", "[gateway][access]") {
    ScratchDir folder;
    std::string text;
    for (std::size_t number = 0; number <= AccessTokens::tokens_max; ++number) {
        text += line("reader", "n" + std::to_string(number), shortest_token + std::to_string(number));
    }
    CHECK_THROWS_WITH(AccessTokens::load(write_private(folder, "tokens", text)),
                      Catch::Contains(":257: is one too many"));
}

TEST_CASE("a credential is looked for where the service manager puts it", "[gateway][access]") {
    ScratchDir folder;
    write_private(folder, "tokens", line("admin", "a", shortest_token));
    ::unsetenv("CREDENTIALS_DIRECTORY");
    CHECK_THROWS_WITH(AccessTokens::load("credential:tokens"), Catch::Contains("CREDENTIALS_DIRECTORY"));
    ::setenv("CREDENTIALS_DIRECTORY", folder.path().c_str(), 1);
    CHECK(AccessTokens::load("credential:tokens").size() == 1);
    ::unsetenv("CREDENTIALS_DIRECTORY");
}
