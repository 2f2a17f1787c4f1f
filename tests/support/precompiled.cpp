// The source that the precompiled header of all test programs is compiled for.
#include "support/catch.hpp"
