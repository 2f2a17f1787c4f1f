#include "http/access_tokens.hpp"

#include "support/catch.hpp"
#include "support/scratch_dir.hpp"

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

TEST_CASE("a bad line is reported with what is allowed, and without its token", "[gateway][access]") {
    ScratchDir folder;
    const auto [text, fault] = GENERATE_COPY(table<std::string, std::string>({
        {line("owner", "a", shortest_token), ":1: invalid line: must be ROLE NAME TOKEN"},
        {"admin a\n", ":1: invalid line: must be ROLE NAME TOKEN"},
        {line("admin", "a", shortest_token + " more"), ":1: invalid line: must be ROLE NAME TOKEN"},
        {"\n" + line("admin", "a", shortest_token.substr(1)), ":2: invalid token of a: must be 16 to 256"},
        {line("admin", "a", std::string(257, 't')), ":1: invalid token of a"},
        {line("admin", "a", shortest_token + "\xc3\xa4"), ":1: invalid token of a"},
        {line("admin", "\"a\"", shortest_token), ":1: invalid name"},
        {line("admin", "a", shortest_token) + line("reader", "b", shortest_token),
         ":2: duplicate token: b and a have the same token"},
        {"# nothing\n", ": contains no tokens"},
    }));
    CAPTURE(text);
    const std::string path = write_private(folder, "tokens", text);
    try {
        (void)AccessTokens::load(path);
        FAIL("it was accepted");
    } catch (const std::runtime_error& error) {
        CHECK_THAT(error.what(), Catch::StartsWith(path + fault));
        CHECK_THAT(error.what(), !Catch::Contains(shortest_token.substr(1)));
    }
}

TEST_CASE("a file that other users can access is refused, with the remedy", "[gateway][access]") {
    ScratchDir folder;
    const std::string path = write_private(folder, "tokens", line("admin", "a", shortest_token));
    REQUIRE(::chmod(path.c_str(), 0644) == 0);
    CHECK_THROWS_WITH(AccessTokens::load(path), path +
                                                    ": has mode 0644, so it can be read by every user of this machine: "
                                                    "must not be accessible to others, run chmod o= " +
                                                    path);
    REQUIRE(::chmod(path.c_str(), 0602) == 0);
    CHECK_THROWS_WITH(AccessTokens::load(path), Catch::Contains("has mode 0602, so it can be written by"));
}

TEST_CASE("a path that is not a regular file is refused", "[gateway][access]") {
    ScratchDir folder;
    CHECK_THROWS_WITH(AccessTokens::load(folder.path("none")), Catch::Contains("No such file"));
    CHECK_THROWS(AccessTokens::load(folder.path()));
    CHECK_THROWS_WITH(AccessTokens::load(write_private(folder, "long", std::string(200'000, '#'))),
                      Catch::Contains("too long"));
}

TEST_CASE("only a limited number of invalid lines is reported, the rest is counted", "[gateway][access]") {
    ScratchDir folder;
    std::string text;
    for (std::size_t number = 0; number < AccessTokens::faults_max + 5; ++number) {
        text += "nonsense\n";
    }
    try {
        (void)AccessTokens::load(write_private(folder, "tokens", text));
        FAIL("it was accepted");
    } catch (const TokensError& error) {
        REQUIRE(error.faults().size() == AccessTokens::faults_max + 1);
        CHECK_THAT(error.faults().back(), Catch::EndsWith(": 5 more invalid lines"));
    }
}

TEST_CASE("too many tokens are refused", "[gateway][access]") {
    ScratchDir folder;
    std::string text;
    for (std::size_t number = 0; number <= AccessTokens::tokens_max; ++number) {
        text += line("reader", "n" + std::to_string(number), shortest_token + std::to_string(number));
    }
    CHECK_THROWS_WITH(AccessTokens::load(write_private(folder, "tokens", text)),
                      Catch::Contains(":257: too many tokens"));
}

TEST_CASE("a credential is looked up in the credentials directory of the service manager", "[gateway][access]") {
    ScratchDir folder;
    write_private(folder, "tokens", line("admin", "a", shortest_token));
    ::unsetenv("CREDENTIALS_DIRECTORY");
    CHECK_THROWS_WITH(AccessTokens::load("credential:tokens"), Catch::Contains("CREDENTIALS_DIRECTORY"));
    ::setenv("CREDENTIALS_DIRECTORY", folder.path().c_str(), 1);
    CHECK(AccessTokens::load("credential:tokens").size() == 1);
    ::unsetenv("CREDENTIALS_DIRECTORY");
}
