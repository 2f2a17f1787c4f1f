#include "gateway/plan/plan_problems.hpp"
#include "support/catch.hpp"

#include <string>

using namespace telegate;
using test::plan_fault;

namespace {

const std::string boiler = "[device \"a\"]\ndriver = simulated\n";

}  // namespace

TEST_CASE("a tag of a device or a channel is a name and a text", "[gateway][plan]") {
    CHECK(plan_fault(boiler + "tags = site=a b, line_3 = x=y\n[channel \"a/sine\"]\ntags = k=v\n").empty());
    CHECK(
        plan_fault(boiler + "tags = 3d=x\n") ==
        "x.ini:3: tags: \"3d=x\" is not a tag: must be NAME=VALUE, a name of 1 to 64 of the characters a-z 0-9 _, not "
        "beginning with a digit, and a text of 1 to 128 bytes");
    for (const std::string tag : {"site", "site=", "=x", "Site=x", "a.b=x", "a="}) {
        CAPTURE(tag);
        CHECK(plan_fault(boiler + "[channel \"a/sine\"]\ntags = " + tag + "\n").starts_with("x.ini:4: tags: \"" + tag));
    }
    CHECK(plan_fault(boiler + "tags = a=1, b=1, a=2\n") == "x.ini:3: tags: duplicate tag: \"a\"");
}

TEST_CASE("a channel has at most 16 tags with those of its device and of the gateway", "[gateway][plan]") {
    std::string ini = "[tags]\n";
    for (int i = 0; i < 14; ++i) {
        ini += "t" + std::to_string(i) + " = x\n";
    }
    ini += boiler + "tags = t0=y, a=1\n[channel \"a/sine\"]\ntags = t1=z, b=1";
    CHECK(plan_fault(ini + "\n").empty());
    CHECK(plan_fault(ini + ", c=1\n") ==
          "x.ini:20: tags: too many tags: 17 with those of the gateway and of the device; must be at most 16");
}
