#pragma once

#include "config/settings_place.hpp"

#include <string>

namespace telegate {

/// A word about the whole gateway that goes with its samples.
struct TagSettings {
    std::string name;
    SettingsPlace place;
    SettingsPlaces places;
    std::string value;
};

}  // namespace telegate
