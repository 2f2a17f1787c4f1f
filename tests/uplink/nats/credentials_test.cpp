#include "nats/credentials.hpp"

#include "support/catch.hpp"

#include <string>
#include <variant>

namespace telegate::uplink {
namespace {

// A key that is used nowhere else.
const std::string user_seed = "SUACC2RGYKMJUM23XVMXZFKMDCXEU3IGAS4Y53V6OZTC2Y26AU77WDQZAU";
const std::string public_key = "UCPO2BHKMSOWVBR63CZCPMAH7Q2PES3NDIQIWB7765QGMJWYS2ECSDDJ";

}  // namespace

TEST_CASE("the public key of an nkey follows from its seed", "[uplink][nats]") {
    CHECK(nkey_public_key(user_seed) == public_key);
}

TEST_CASE("a text that is not the seed of a user has no public key", "[uplink][nats]") {
    std::string changed = user_seed;
    changed[20] = changed[20] == 'A' ? 'B' : 'A';
    const std::string account = "SAACNNMX4ZS52JTEE4LX7LPUDLCCQZPD3HPZMD7P7OTU2CX4SP6NWSJ6EA";
    const std::string text = GENERATE_COPY(std::string(), changed, user_seed.substr(1), user_seed + "A", public_key,
                                           account, std::string(58, '1'));
    CAPTURE(text);
    CHECK_FALSE(nkey_public_key(text));
}

TEST_CASE("the content of a file with credentials shows their kind", "[uplink][nats]") {
    CHECK(std::get<NatsToken>(read_credentials(" secret\n", "file")).token == "secret");
    const NatsCredentials user = read_credentials("telegate pass\n", "file");
    CHECK(std::get<NatsUser>(user).user == "telegate");
    CHECK(std::get<NatsUser>(user).password == "pass");
    CHECK(std::get<NatsNkey>(read_credentials(user_seed + "\n", "file")).public_key == public_key);
    const std::string decorated = "-----BEGIN USER NKEY SEED-----\n" + user_seed + "\n------END USER NKEY SEED------\n";
    CHECK(std::get<NatsNkey>(read_credentials(decorated, "file")).public_key == public_key);
    const std::string creds = "-----BEGIN NATS USER JWT-----\neyJ0\n------END NATS USER JWT------\n" + decorated;
    CHECK(std::get<NatsJwt>(read_credentials(creds, "file")).jwt == "eyJ0");
    CHECK(std::get<NatsJwt>(read_credentials(creds, "file")).seed == user_seed);
}

TEST_CASE("a file with credentials of no kind is an error that does not show them", "[uplink][nats]") {
    const auto* const content = GENERATE("", "\n", "one secret too many");
    CHECK_THROWS_WITH(read_credentials(content, "/etc/file"),
                      "invalid credentials in /etc/file: must be TOKEN, USER PASSWORD, the seed of an nkey, or the "
                      "content of a .creds file");
}

}  // namespace telegate::uplink
