#pragma once

#include "config/load.hpp"
#include "core/curve.hpp"

#include <memory>
#include <string>
#include <vector>

namespace telegate {

/// Reads the key files of one section [publish] or [services]. Returns null if it names none or has problems, which are
/// added with their places. `secret` applies to a key file that is not a credential.
[[nodiscard]] std::shared_ptr<const CurveServer> read_curve(const PublishSettings& settings,
                                                            std::vector<SettingsProblem>& problems,
                                                            SecretFile secret = SecretFile::own);

[[nodiscard]] std::shared_ptr<const CurveServer> read_curve(const ServiceSettings& settings,
                                                            std::vector<SettingsProblem>& problems,
                                                            SecretFile secret = SecretFile::own);

struct NamedCurve {
    std::string name;  // of the section
    std::shared_ptr<const CurveServer> curve;
};

/// Reads the keys of all sections [publish], or of all sections [services]. Throws SettingsError with every problem.
[[nodiscard]] std::vector<NamedCurve> read_curves(const Settings& settings);
[[nodiscard]] std::vector<NamedCurve> read_service_curves(const Settings& settings);

/// Returns the security settings for Publisher; null means the NULL mechanism.
[[nodiscard]] Security to_security(const std::shared_ptr<const CurveServer>& curve);

/// Returns whether both have the same key and allow the same clients.
[[nodiscard]] bool is_same(const std::shared_ptr<const CurveServer>& a, const std::shared_ptr<const CurveServer>& b);

}  // namespace telegate
