#pragma once

#include "config/given_settings.hpp"

namespace telegate {

/// Replaces each section that is short for several (SectionRow::short_key): [tags] with `site = north` becomes [tags
/// "site"] with `value = north`. Threads: any. Limits: none. Failure: none.
void expand_short_sections(SettingsSource& source);

}  // namespace telegate
