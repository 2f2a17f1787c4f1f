#include "endpoints/publish_curve.hpp"

#include "gateway/plan/plan_problems.hpp"
#include "plan/plan.hpp"
#include "support/catch.hpp"
#include "support/curve_files.hpp"

#include <sys/stat.h>

#include <cstdlib>
#include <string>

using namespace telegate;
using namespace telegate::test;

namespace {

const std::string endpoint_section = "[publish \"a\"]\nendpoint = tcp://127.0.0.1:0\n";

std::shared_ptr<const CurveServer> planned(const std::string& settings) {
    return make_plan(parse_settings(endpoint_section + settings, "x.ini")).publish.at(0).curve;
}

}  // namespace

TEST_CASE("an endpoint without a key file is not encrypted", "[gateway][plan][curve]") {
    CHECK(planned("") == nullptr);
    CHECK(planned("curve_secret_key_file =\ncurve_clients_dir =\n") == nullptr);
    CHECK(std::holds_alternative<std::monostate>(to_security(nullptr)));
}

TEST_CASE("an endpoint has the key of its file and the clients of its folder", "[gateway][plan][curve]") {
    const CurveFiles files;
    const auto curve = planned(files.settings());
    REQUIRE(curve != nullptr);
    CHECK(curve->keys.public_key == files.server.public_key);
    REQUIRE(curve->clients != nullptr);
    CHECK(curve->clients->allows(files.anna.public_key));
    const auto open = planned(files.key_setting() + "curve_clients_dir = *\n");
    REQUIRE(open != nullptr);
    CHECK(open->clients == nullptr);
}

TEST_CASE("one CURVE setting without the other is a problem", "[gateway][plan][curve]") {
    const CurveFiles files;
    CHECK_THAT(plan_fault(endpoint_section + files.key_setting()),
               Catch::StartsWith("x.ini:3: curve_secret_key_file: requires curve_clients_dir: must be "));
    CHECK(plan_fault(endpoint_section + "curve_clients_dir = *\n") ==
          "x.ini:3: curve_clients_dir: \"*\" requires curve_secret_key_file: set both or neither");
}

TEST_CASE("a secret key file that cannot be used is reported with its line", "[gateway][plan][curve]") {
    const CurveFiles files;
    const std::string start = "x.ini:3: curve_secret_key_file: " + files.secret + ": ";
    ::chmod(files.secret.c_str(), 0640);
    CHECK(plan_fault(endpoint_section + files.settings()) ==
          start + "mode 0640; a secret key must have mode 0600 or 0400");
    write_private(files.folder, "server.secret", "no key");
    CHECK_THAT(plan_fault(endpoint_section + files.settings()), Catch::StartsWith(start + "not a key"));
    std::filesystem::remove(files.secret);
    CHECK(plan_fault(endpoint_section + files.settings()) == start + "No such file or directory");
}

TEST_CASE("a secret key may be a credential, which systemd may own", "[gateway][plan][curve]") {
    const CurveFiles files;
    const std::string settings = "curve_secret_key_file = credential:server.secret\ncurve_clients_dir = *\n";
    ::unsetenv("CREDENTIALS_DIRECTORY");
    CHECK_THAT(plan_fault(endpoint_section + settings),
               Catch::StartsWith("x.ini:3: curve_secret_key_file: credential:server.secret: "
                                 "CREDENTIALS_DIRECTORY is not set in the environment"));
    ::setenv("CREDENTIALS_DIRECTORY", files.folder.path().c_str(), 1);
    ::chmod(files.secret.c_str(), 0440);  // as with an ACL
    const auto curve = planned(settings);
    CHECK_THAT(plan_fault(endpoint_section + "curve_secret_key_file = credential:../x\ncurve_clients_dir = *\n"),
               Catch::Contains("credential:../x: not the name of a credential: \"../x\"; must be credential:NAME"));
    ::unsetenv("CREDENTIALS_DIRECTORY");
    REQUIRE(curve != nullptr);
    CHECK(curve->keys.public_key == files.server.public_key);
}

TEST_CASE("a folder of clients that cannot be used is reported with its line", "[gateway][plan][curve]") {
    const CurveFiles files;
    const std::string start = "x.ini:4: curve_clients_dir: " + files.clients;
    write_private(files.folder, "clients/bad.public", "no key");
    CHECK_THAT(plan_fault(endpoint_section + files.settings()), Catch::StartsWith(start + "/bad.public: not a key"));
    files.shut_out("bad");
    files.shut_out("anna");
    CHECK_THAT(plan_fault(endpoint_section + files.settings()), Catch::StartsWith(start + ": has no key"));
    std::filesystem::remove(files.clients);
    CHECK(plan_fault(endpoint_section + files.settings()) == start + ": No such file or directory");
}

TEST_CASE("all problems of all endpoints are reported at once", "[gateway][plan][curve]") {
    const std::string problems = plan_fault(
        endpoint_section +
        "curve_secret_key_file = /nowhere/a\ncurve_clients_dir = /nowhere/b\n[publish \"c\"]\nendpoint = tcp://x\n"
        "curve_clients_dir = /nowhere/c\n");
    for (const char* part : {"x.ini:3: curve_secret_key_file: /nowhere/a: ", "x.ini:4: curve_clients_dir: ",
                             "x.ini:6: endpoint: ", "x.ini:7: curve_clients_dir: \"/nowhere/c\""}) {
        CHECK_THAT(problems, Catch::Contains(part));
    }
}

TEST_CASE("CURVE cannot be used for inproc endpoints", "[gateway][plan][curve]") {
    const CurveFiles files;
    Settings settings = parse_settings(endpoint_section + files.settings(), "x.ini");
    settings.publish.at(0).endpoint = "inproc://inside";
    CHECK_THROWS_WITH(make_plan(settings),
                      "x.ini:3: curve_secret_key_file: \"inproc://inside\" never leaves the "
                      "process: CURVE must not be set");
}

TEST_CASE("CURVE settings are the same if the server key and the clients are", "[gateway][plan][curve]") {
    const CurveFiles files;
    const auto before = planned(files.settings());
    CHECK(is_same(nullptr, nullptr));
    CHECK(is_same(before, planned(files.settings())));
    CHECK_FALSE(is_same(before, nullptr));
    CHECK_FALSE(is_same(before, planned(files.key_setting() + "curve_clients_dir = *\n")));
    files.let_in("bert", make_curve_key_pair());
    CHECK_FALSE(is_same(before, planned(files.settings())));
    files.shut_out("bert");
    CHECK(is_same(before, planned(files.settings())));
    files.write_server(make_curve_key_pair());
    CHECK_FALSE(is_same(before, planned(files.settings())));
}
