#include "config/problems.hpp"
#include "support/catch.hpp"

#include <tuple>

using namespace telegate;

TEST_CASE("an operator reads what is wrong, where, and what is allowed", "[config][problems]") {
    const auto [text, message] = GENERATE(table<std::string, std::string>({
        {"sampling_interval_ms = 100 # fast\n",
         "t.ini:1: sampling_interval_ms: \"100 # fast\" is not a whole number: a comment cannot stand behind a value, "
         "only on "
         "a line of its own, allowed: a whole number of ms, 1 to 3600000; or with a unit of its own: us, ms, s, min, "
         "h, d"},
        {"sampling_intervall_ms = 100\n",
         "t.ini:1: sampling_intervall_ms: is not a setting of the lines before the first section, did you mean "
         "sampling_interval_ms?"},
        {"[queue]\nqueue_size = 16\n", "t.ini:2: queue_size: is not a setting of [queue], it belongs in [gateway]"},
        {"[rest]\nlisten = gateway.example.org:8080\n",
         "t.ini:2: listen: \"gateway.example.org:8080\" is not an address to listen on, allowed: HOST:PORT with a "
         "numeric IPv4 address, an IPv6 address in brackets or localhost, and a port from 0 to 65535, or nothing"},
        {"[publish \"lan\"]\nendpoint = 192.168.1.5:5556\n",
         "t.ini:2: endpoint: \"192.168.1.5:5556\" is not allowed, allowed: tcp://ADDRESS:PORT or ipc://PATH"},
        {"[publish \"lan\"]\nformat = cbor\n",
         "t.ini:1: endpoint: is missing in [publish \"lan\"], allowed: tcp://ADDRESS:PORT or ipc://PATH"},
        {"[device \"Boiler 1\"]\ndriver = host\n",
         "t.ini:1: [device \"Boiler 1\"] has a bad name, allowed: 1 to 64 of the characters a-z 0-9 _ . -"},
        {"[device \"boiler\"]\ndriver = simulator\n",
         "t.ini:2: driver: \"simulator\" is not a choice (did you mean simulated?), allowed: " + test::driver_names()},
        {"[device \"boiler\"]\ndriver = simulated\ninterval_ms = 250us\n",
         "t.ini:3: interval_ms: \"250us\" is not a whole number of ms, allowed: a whole number of ms, 1 to 3600000; or "
         "with a unit of its own: us, ms, s, min, h, d"},
        {"[device \"boiler\"]\ndriver = host\nautostart = maybe\nautostart = no\n",
         "t.ini:3: autostart: \"maybe\" is neither yes nor no, allowed: yes, true, on, 1, no, false, off or 0\n"
         "t.ini:4: autostart: is there twice, first in line 3"},
        {"[devcie \"boiler\"]\ndriver = host\n",
         "t.ini:1: [devcie \"boiler\"] is not a known section, did you mean device?"},
        {"[log level]\n",
         "t.ini:1: \"[log level]\" is not a section, allowed is [section] or [section \"NAME\"] alone"},
    }));
    CHECK(test::problem_of(text) == message);
}
