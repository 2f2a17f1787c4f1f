#include "plan/plan.hpp"

#include "gateway/plan/plan_problems.hpp"
#include "support/catch.hpp"
#include "support/certificates.hpp"
#include "support/scratch_dir.hpp"

#include <sys/stat.h>

#include <cstdlib>
#include <string>

using namespace telegate;
using namespace telegate::test;

TEST_CASE("an address that other machines can reach requires authentication", "[gateway][plan][access]") {
    const auto* const address = GENERATE("0.0.0.0:80", "[::]:80", "192.0.2.7:80");
    CAPTURE(address);
    const std::string listen = "[rest]\nlisten = " + std::string(address) + "\n";
    CHECK_THAT(plan_fault(listen), Catch::StartsWith("x.ini:2: listen: ") && Catch::Contains("tokens_file"));
    ScratchDir folder;
    const std::string tokens = write_private(folder, "tokens", "admin someone a-token-of-someone\n");
    CHECK(plan_fault(listen + "tokens_file = " + tokens + "\n").empty());
}

TEST_CASE("a loopback address requires no authentication", "[gateway][plan][access]") {
    const auto* const address = GENERATE("127.0.0.1:80", "127.1.2.3:80", "[::1]:80", "localhost:80", "");
    CAPTURE(address);
    CHECK(plan_fault("[rest]\nlisten = " + std::string(address) + "\n").empty());
}

TEST_CASE("an address that cannot be listened on is a problem", "[gateway][plan][access]") {
    const auto* const address = GENERATE("224.0.0.1:80", "255.255.255.255:80", "[ff02::1]:80");
    CAPTURE(address);
    CHECK_THAT(plan_fault("[rest]\nlisten = " + std::string(address) + "\n"),
               Catch::StartsWith("x.ini:2: listen: ") && Catch::Contains("neither multicast"));
}

TEST_CASE("files of [rest] that cannot be used are reported before the start", "[gateway][plan][access]") {
    ScratchDir folder;
    const Certificate own(folder, "gateway");
    const std::string tls = "tls_certificate = " + own.certificate_path + "\ntls_key = " + own.key_path + "\n";
    CHECK(plan_fault("[rest]\n" + tls).empty());
    CHECK(plan_fault("[rest]\nlisten = 0.0.0.0:80\ntls_client_ca = " + own.certificate_path + "\n" + tls).empty());
    CHECK_THAT(plan_fault("[rest]\ntokens_file = /nowhere\n"), Catch::StartsWith("x.ini:2: tokens_file: /nowhere: "));
    CHECK_THAT(plan_fault("[rest]\ntls_key = x\ntls_certificate = /nowhere\n"),
               Catch::StartsWith("x.ini:3: tls_certificate: /nowhere: "));
    CHECK_THAT(plan_fault("[rest]\ntls_certificate = x\n"),
               Catch::Contains("TLS requires tls_certificate and tls_key"));
    CHECK_THAT(plan_fault("[rest]\ntls_client_ca = x\n"), Catch::Contains("TLS requires tls_certificate and tls_key"));
}

TEST_CASE("certificate and key of TLS can be credentials", "[gateway][plan][access]") {
    ScratchDir folder;
    const Certificate own(folder, "gateway");
    const auto name_of = [](const std::string& path) {
        return path.substr(path.rfind('/') + 1);
    };
    const std::string tls = "[rest]\ntls_certificate = credential:" + name_of(own.certificate_path) +
                            "\ntls_key = credential:" + name_of(own.key_path) + "\n";
    ::unsetenv("CREDENTIALS_DIRECTORY");
    CHECK_THAT(plan_fault(tls), Catch::StartsWith("x.ini:2: tls_certificate: credential:") &&
                                    Catch::Contains("\nx.ini:3: tls_key: credential:"));
    ::setenv("CREDENTIALS_DIRECTORY", folder.path().c_str(), 1);
    CHECK(plan_fault(tls).empty());
    ::unsetenv("CREDENTIALS_DIRECTORY");
}

TEST_CASE("a missing TLS setting is reported, and hides no other problem", "[gateway][plan][access]") {
    ScratchDir folder;
    const Certificate own(folder, "gateway");
    CHECK(plan_fault("[rest]\ntls_key = " + own.key_path + "\n") ==
          "x.ini:2: tls_key: TLS requires tls_certificate and tls_key: tls_certificate is missing");
    CHECK(plan_fault("[rest]\ntls_certificate = " + own.certificate_path + "\ntokens_file = /nowhere\n") ==
          "x.ini:2: tls_certificate: TLS requires tls_certificate and tls_key: tls_key is "
          "missing\nx.ini:3: tokens_file: /nowhere: No such file or directory");
    CHECK(plan_fault("[rest]\ntls_certificate = /no/crt\ntls_key = /no/key\ntls_client_ca = " + folder.path() + "\n") ==
          "x.ini:2: tls_certificate: /no/crt: No such file or directory\n"
          "x.ini:3: tls_key: /no/key: No such file or directory\n"
          "x.ini:4: tls_client_ca: " +
              folder.path() + ": Is a directory");
}

TEST_CASE("a TLS file that could block its reader is a problem", "[gateway][plan][access]") {
    ScratchDir folder;
    const Certificate own(folder, "gateway");
    const std::string pipe = folder.path("pipe");
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    CHECK(plan_fault("[rest]\ntls_certificate = " + pipe + "\ntls_key = " + own.key_path + "\n") ==
          "x.ini:2: tls_certificate: " + pipe + ": is not a regular file");
}

TEST_CASE("every invalid line of a tokens file is a problem", "[gateway][plan][access]") {
    ScratchDir folder;
    const std::string tokens = write_private(folder, "tokens", "x\nadmin a a-token-of-someone\ny\nadmin b short\n");
    const std::string place = "x.ini:2: tokens_file: " + tokens;
    CHECK_THAT(plan_fault("[rest]\ntokens_file = " + tokens + "\n"),
               Catch::Contains(place + ":1: ") && Catch::Contains(place + ":3: ") && Catch::Contains(place + ":4: "));
}

TEST_CASE("a path that is too long for a socket is a problem", "[gateway][plan][access]") {
    CHECK(plan_fault("[rest]\nunix_socket = /" + std::string(106, 'x') + "\n").empty());
    CHECK_THAT(
        plan_fault("[rest]\nunix_socket = /" + std::string(107, 'x') + "\n"),
        Catch::StartsWith("x.ini:2: unix_socket: ") && Catch::Contains("is too long: must be at most 107 bytes"));
}

TEST_CASE("the settings of [rest] reach the server", "[gateway][plan][access]") {
    const Plan plan =
        make_plan(parse_settings("[rest]\nlisten =\nunix_socket = /run/x.sock\nstreams_max = 3\n", "x.ini"));
    CHECK(plan.rest.host.empty());
    CHECK(plan.rest.unix_socket == "/run/x.sock");
    CHECK(plan.rest.streams_max == 3);
}
