#include "plan.hpp"

#include "support/catch.hpp"
#include "support/certificates.hpp"
#include "support/scratch_file.hpp"

#include <string>

using namespace telegate;
using namespace telegate::test;

namespace {

std::string problem_of(const std::string& text) {
    try {
        (void)make_plan(parse_settings(text, "test.ini"));
    } catch (const SettingsError& error) {
        return error.what();
    }
    return {};
}

}  // namespace

TEST_CASE("an address that others reach needs to know who comes", "[gateway][plan][access]") {
    const auto* const address = GENERATE("0.0.0.0:80", "[::]:80", "192.0.2.7:80");
    CAPTURE(address);
    const std::string listen = "[rest]\nlisten = " + std::string(address) + "\n";
    CHECK_THAT(problem_of(listen), Catch::StartsWith("test.ini:2: listen: ") && Catch::Contains("tokens_file"));
    ScratchDir folder;
    const std::string tokens = write_private(folder, "tokens", "admin someone a-token-of-someone\n");
    CHECK(problem_of(listen + "tokens_file = " + tokens + "\n").empty());
}

TEST_CASE("a loopback address needs nothing", "[gateway][plan][access]") {
    const auto* const address = GENERATE("127.0.0.1:80", "127.1.2.3:80", "[::1]:80", "localhost:80", "");
    CAPTURE(address);
    CHECK(problem_of("[rest]\nlisten = " + std::string(address) + "\n").empty());
}

TEST_CASE("files of [rest] that cannot be used are named before the start", "[gateway][plan][access]") {
    ScratchDir folder;
    const Certificate own(folder, "gateway");
    const std::string tls = "tls_certificate = " + own.certificate_path + "\ntls_key = " + own.key_path + "\n";
    CHECK(problem_of("[rest]\n" + tls).empty());
    CHECK(problem_of("[rest]\nlisten = 0.0.0.0:80\ntls_client_ca = " + own.certificate_path + "\n" + tls).empty());
    CHECK_THAT(problem_of("[rest]\ntokens_file = /nowhere\n"),
               Catch::StartsWith("test.ini:2: tokens_file: /nowhere: "));
    CHECK_THAT(problem_of("[rest]\ntls_key = x\ntls_certificate = /nowhere\n"),
               Catch::StartsWith("test.ini:3: tls_certificate: /nowhere: "));
    CHECK_THAT(problem_of("[rest]\ntls_certificate = x\n"), Catch::Contains("TLS needs tls_certificate and tls_key"));
    CHECK_THAT(problem_of("[rest]\ntls_client_ca = x\n"), Catch::Contains("TLS needs tls_certificate and tls_key"));
}

TEST_CASE("what [rest] says reaches the server", "[gateway][plan][access]") {
    const Plan plan =
        make_plan(parse_settings("[rest]\nlisten =\nunix_socket = /run/x.sock\nstreams_max = 3\n", "test.ini"));
    CHECK(plan.rest.host.empty());
    CHECK(plan.rest.unix_socket == "/run/x.sock");
    CHECK(plan.rest.streams_max == 3);
}
