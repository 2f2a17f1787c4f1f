// The source for the precompiled header of all test programs.
#include "support/catch.hpp"
