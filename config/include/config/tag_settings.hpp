#pragma once

#include "config/settings_place.hpp"

#include <string>

namespace telegate {

/// A name and value that describe the whole gateway and are sent with its samples.
struct TagSettings {
    std::string name;
    SettingsPlace place;
    SettingsPlaces places;
    std::string value;
};

}  // namespace telegate
