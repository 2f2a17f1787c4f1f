#include "config/problems.hpp"
#include "support/catch.hpp"

#include <tuple>

using namespace telegate;

TEST_CASE("problems report what is wrong, where, and what is allowed", "[config][problems]") {
    const auto [text, message] = GENERATE(table<std::string, std::string>({
        {"sampling_interval_ms = 100 # fast\n",
         "t.ini:1: sampling_interval_ms: not a whole number: \"100 # fast\" (a comment must be on its own line); "
         "must be a whole number of ms, 1 to 3600000, or a number with a unit: us, ms, s, min, "
         "h, d"},
        {"sampling_intervall_ms = 100\n",
         "t.ini:1: sampling_intervall_ms: not a setting of the lines before the first section; did you mean "
         "sampling_interval_ms?"},
        {"[queue]\nqueue_size = 16\n", "t.ini:2: queue_size: not a setting of [queue]; it belongs in [gateway]"},
        {"[rest]\nlisten = gateway.example.org:8080\n",
         "t.ini:2: listen: invalid address: \"gateway.example.org:8080\"; must be HOST:PORT with a "
         "numeric IPv4 address, an IPv6 address in brackets or localhost, and a port from 0 to 65535, or empty"},
        {"[publish \"lan\"]\nendpoint = 192.168.1.5:5556\n",
         "t.ini:2: endpoint: invalid value: \"192.168.1.5:5556\"; must be tcp://ADDRESS:PORT or ipc://PATH"},
        {"[publish \"lan\"]\nformat = cbor\n",
         "t.ini:1: endpoint: missing in [publish \"lan\"]; must be tcp://ADDRESS:PORT or ipc://PATH"},
        {"[device \"Boiler 1\"]\ndriver = host\n",
         "t.ini:1: invalid name: [device \"Boiler 1\"]; must be 1 to 64 of the characters a-z 0-9 _ . -"},
        {"[device \"boiler\"]\ndriver = simulator\n",
         "t.ini:2: driver: unknown value: \"simulator\" (did you mean simulated?); must be " + test::driver_names()},
        {"[device \"boiler\"]\ndriver = simulated\ninterval_ms = 250us\n",
         "t.ini:3: interval_ms: not a whole number of ms: \"250us\"; must be a whole number of ms, 1 to 3600000, or "
         "a number with a unit: us, ms, s, min, h, d"},
        {"[device \"boiler\"]\ndriver = host\nautostart = maybe\nautostart = no\n",
         "t.ini:3: autostart: not a boolean: \"maybe\"; must be yes, true, on, 1, no, false, off or 0\n"
         "t.ini:4: autostart: duplicate (first defined on line 3)"},
        {"[devcie \"boiler\"]\ndriver = host\n", "t.ini:1: unknown section: [devcie \"boiler\"]; did you mean device?"},
        {"[log level]\n", "t.ini:1: not a section header: \"[log level]\"; must be [section] or [section \"NAME\"]"},
    }));
    CHECK(test::problem_of(text) == message);
}
