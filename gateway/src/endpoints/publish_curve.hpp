#pragma once

#include "config/load.hpp"
#include "core/curve.hpp"

#include <memory>
#include <string>
#include <vector>

namespace telegate {

/// Reads the files that one section [publish] or [services] names. Null when it names none, or with problems, which are
/// added with their places. `secret` is for a key file that is not a credential.
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

/// Those of all sections [publish], or [services]. Throws SettingsError with every problem.
[[nodiscard]] std::vector<NamedCurve> read_curves(const Settings& settings);
[[nodiscard]] std::vector<NamedCurve> read_service_curves(const Settings& settings);

/// For Publisher; null is the mechanism NULL.
[[nodiscard]] Security to_security(const std::shared_ptr<const CurveServer>& curve);

/// Whether clients find the same key and the same ones are let in.
[[nodiscard]] bool is_same(const std::shared_ptr<const CurveServer>& a, const std::shared_ptr<const CurveServer>& b);

}  // namespace telegate
