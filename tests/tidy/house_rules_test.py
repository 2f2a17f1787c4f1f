#!/usr/bin/env python3
"""Checks rules of this project that a compiler cannot check. Each rule is also tested with a bad example, which it must
find."""

import functools
import os
import re
import unittest
from pathlib import Path

import rules
from tree import exists, files, read

SOURCE_FOLDERS = (*rules.ROOMS, "tools", "tests")
TEXT_ENDINGS = (".cpp", ".hpp", ".md", ".py", ".sh", ".cmake", ".txt", ".json", ".ini", "/run")


@functools.cache
def all_includes(path):
    """Returns the names of other projects' headers that a file includes, directly or through this project's headers."""
    names = set()
    for opening, name in re.findall(r'^#include ([<"])([^">]+)', read(path), re.M):
        if opening == "<":
            names.add(name)
            continue
        folders = (str(Path(path).parent), *rules.INCLUDE_FOLDERS)
        names |= all_includes(next(own for own in (os.path.normpath(f"{folder}/{name}") for folder in folders) if exists(own)))
    return names


class Tree(unittest.TestCase):
    def check_all(self, rule, paths):
        self.assertTrue(paths, "the rule was applied to no file")
        findings = [f"{path}: {finding}"
                    for path in paths
                    for finding in rule(path, read(path))]
        self.assertEqual(findings, [], "\n" + "\n".join(findings))

    def test_no_source_file_is_too_long(self):
        self.check_all(rules.source_length, files(".cpp", ".hpp", under=SOURCE_FOLDERS))

    def test_includes_follow_the_direction_of_the_rooms(self):
        self.check_all(lambda path, text: rules.include_direction(path, text, exists),
                       files(".cpp", ".hpp", under=SOURCE_FOLDERS))

    def test_includes_follow_the_direction_of_the_folders(self):
        for room in ("core", "gateway"):
            links = rules.folder_links(read(f"{room}/CMakeLists.txt"))
            self.assertEqual(rules.folder_order(links), [])
            self.check_all(lambda path, text, links=links: rules.folder_includes(path, text, links),
                           [path for path in files(".cpp", ".hpp") if path.startswith(f"{room}/src/")])

    def test_no_folders_include_each_other_in_a_circle(self):
        for room in ("core", "store", "uplink", "device", "gateway"):
            paths = [path for path in files(".cpp", ".hpp") if re.match(rf"{room}/src/\w+/", path)]
            self.assertTrue(paths)
            self.assertEqual(rules.folder_cycle({path: read(path) for path in paths}), [])

    def test_headers_of_other_projects_are_included_only_in_allowed_places(self):
        self.check_all(rules.other_includes, files(".cpp", ".hpp", under=SOURCE_FOLDERS))

    def test_headers_of_used_library_names_are_included(self):
        self.check_all(lambda path, text: rules.outside_includes(path, text, all_includes),
                       files(".cpp", ".hpp", under=SOURCE_FOLDERS))

    def test_no_using_declaration_is_unused(self):
        self.check_all(rules.unused_using, files(".cpp", under=SOURCE_FOLDERS))

    def test_test_cases_are_in_files_that_end_in_test(self):
        self.check_all(rules.test_cases, [path for path in files(".cpp", ".hpp", under=("tests",))
                                          if not path.endswith("_test.cpp")])

    def test_tests_do_not_sleep(self):
        self.check_all(rules.sleeps, [path for path in files(".cpp", ".hpp", ".py", ".sh", under=("tests",))
                                      if not path.startswith("tests/tidy/")])

    def test_every_file_that_orders_memory_is_named_by_a_model(self):
        modeled = rules.files_of_models(read(path) for path in files("_test.py", under=("tests",))
                                        if path.startswith("tests/models/"))
        listed = [path for paths in rules.ORDERS_NOTHING.values() for path in paths]
        self.assertEqual([path for path in (*modeled, *listed) if not exists(path)], [])
        self.check_all(lambda path, text: rules.unmodeled_atomics(path, text, modeled),
                       files(".cpp", ".hpp", under=(*rules.ROOMS, "tools")))

    def test_only_tools_and_main_write_to_the_console(self):
        self.check_all(rules.console_output, [path for path in files(".cpp", ".hpp", under=(*rules.ROOMS, "tests"))
                                              if not path.endswith("/src/app/main.cpp")])

    def test_no_name_is_reserved(self):
        self.check_all(rules.reserved_names, files(".cpp", ".hpp", under=(*rules.ROOMS, "tools")))

    def test_nothing_is_left_unfinished(self):
        self.check_all(rules.leftovers, files(*TEXT_ENDINGS))

    def test_names_of_tests_start_with_a_word(self):
        self.check_all(rules.test_names, files("_test.cpp", under=("tests",)))

    def test_no_header_uses_a_whole_namespace(self):
        self.check_all(rules.namespace_in_header, files(".hpp", under=SOURCE_FOLDERS))

    def test_every_header_starts_with_pragma_once(self):
        self.check_all(rules.header_guard, files(".hpp", under=SOURCE_FOLDERS))

    def test_no_readme_is_too_long(self):
        self.check_all(rules.readme_length, files("README.md"))

    def test_every_preset_has_a_description(self):
        self.check_all(rules.preset_texts, files(".json", under=("presets",)))

    def test_every_preset_can_configure_build_and_test(self):
        self.check_all(rules.preset_twins, ["presets/linux.json"])


class BadExamples(unittest.TestCase):
    """A rule must find the fault in a bad example."""

    def include(self, path, line, *existing):
        return rules.include_direction(path, line + "\n", lambda candidate: candidate in existing)

    def test_a_long_source_file_is_found(self):
        self.assertTrue(rules.source_length("core/src/a.cpp", "\n" * 601))
        self.assertFalse(rules.source_length("core/src/a.cpp", "\n" * 600))

    def test_a_long_main_is_found(self):
        self.assertTrue(rules.source_length("gateway/src/app/main.cpp", "\n" * 81))
        self.assertFalse(rules.source_length("gateway/src/app/main.cpp", "\n" * 80))

    def test_a_long_readme_is_found(self):
        self.assertTrue(rules.readme_length("README.md", "\n" * 201))
        self.assertTrue(rules.readme_length("device/README.md", "\n" * 41))
        self.assertFalse(rules.readme_length("core/src/zmtp/README.md", "\n" * 130))

    def test_a_cycle_of_folders_is_found(self):
        links = rules.folder_links("telegate_folder(a HOT FOLDERS b LIBS c)\ntelegate_folder(b FOLDERS a)\n")
        self.assertEqual(links, {"a": ["b"], "b": ["a"]})
        self.assertTrue(rules.folder_order(links))
        self.assertFalse(rules.folder_order({"a": [], "b": ["a"]}))

    def test_folders_that_include_each_other_are_found(self):
        texts = {"core/src/a/x.cpp": '#include "b/y.hpp"\n', "core/src/b/y.hpp": '#include "c/z.hpp"\n'}
        self.assertFalse(rules.folder_cycle(texts))
        self.assertTrue(rules.folder_cycle({**texts, "core/src/c/z.hpp": '#include "a/x.hpp"\n'}))

    def test_an_include_of_a_folder_that_is_not_linked_is_found(self):
        links = {"a": [], "b": ["a"]}
        self.assertTrue(rules.folder_includes("core/src/a/x.cpp", '#include "b/y.hpp"\n', links))
        self.assertFalse(rules.folder_includes("core/src/b/y.cpp", '#include "a/x.hpp"\n', links))

    def test_a_library_in_the_wrong_place_is_found(self):
        self.assertTrue(rules.other_includes("core/src/reactor/reactor.cpp", "#include <nlohmann/json.hpp>\n"))
        self.assertFalse(rules.other_includes("gateway/src/log/log.cpp", "#include <spdlog/spdlog.h>\n"))

    def test_an_include_against_the_direction_is_found(self):
        device = "device/include/device/driver.hpp"
        self.assertTrue(self.include("core/src/a.cpp", '#include "device/driver.hpp"', device))
        self.assertTrue(self.include("config/src/a.cpp", '  #  include "device/driver.hpp"', device))
        self.assertFalse(self.include("gateway/src/a.cpp", '#include "device/driver.hpp"', device))
        load = "config/include/config/load.hpp"
        self.assertTrue(self.include("device/src/http/http_driver.cpp", '#include "config/load.hpp"', load))
        self.assertFalse(self.include("device/src/http/http_settings.cpp", '#include "config/load.hpp"', load))
        block = "store/include/store/block.hpp"
        self.assertTrue(self.include("device/src/http/http_driver.cpp", '#include "store/block.hpp"', block))
        self.assertFalse(self.include("device/src/replay/replay_driver.cpp", '#include "store/block.hpp"', block))

    def test_a_private_header_of_another_room_is_found(self):
        self.assertTrue(self.include("device/src/a.cpp", '#include "zmtp/frame.hpp"', "core/src/zmtp/frame.hpp"))
        self.assertFalse(self.include("tests/core/a.cpp", '#include "zmtp/frame.hpp"', "core/src/zmtp/frame.hpp"))

    def test_a_library_name_without_its_header_is_found(self):
        def uses(line, *included):
            return rules.outside_includes("core/src/a.cpp", line, lambda path: set(included))
        self.assertEqual(uses("std::vector<std::string> a = '\"';  // std::map", "string"), ["std::vector without <vector>"])
        self.assertFalse(uses("std::vector<int> a;", "vector"))
        self.assertTrue(uses("std::unheard_of a;", "vector"))
        self.assertTrue(uses("nlohmann::json a;", "vector"))
        self.assertFalse(uses("nlohmann::json a;", "nlohmann/json_fwd.hpp"))

    def test_an_unused_using_declaration_is_found(self):
        self.assertTrue(rules.unused_using("a.cpp", "using std::chrono::seconds;\nstd::chrono::seconds(1);\n"))
        self.assertFalse(rules.unused_using("a.cpp", "using std::chrono::seconds;\nseconds(1);\n"))

    def test_a_test_case_in_another_file_is_found(self):
        self.assertTrue(rules.test_cases("tests/core/harness.hpp", 'TEST_CASE("a test", "[a]") {}'))

    def test_an_include_of_the_gateway_is_found(self):
        self.assertTrue(self.include("tools/a.cpp", '#include "status.hpp"', "gateway/src/status.hpp"))
        self.assertFalse(self.include("tools/perf_tool/a.cpp", '#include "status.hpp"', "gateway/src/status.hpp"))

    def test_an_included_source_is_found(self):
        self.assertTrue(self.include("core/src/a.cpp", '#include "b.cpp"', "core/src/b.cpp"))

    def test_an_own_header_in_angle_brackets_is_found(self):
        self.assertTrue(self.include("device/src/a.cpp", "#include <core/clock.hpp>", "core/include/core/clock.hpp"))
        self.assertFalse(self.include("device/src/a.cpp", "#include <vector>"))

    def test_every_kind_of_sleep_is_found(self):
        for line in ("std::this_thread::sleep_for(1ms);", "sleep_until(t);", "usleep(5);", "nanosleep(&t, 0);",
                     "    time.sleep(1)", "::sleep(1);", "sleep 0.5"):
            self.assertTrue(rules.sleeps("tests/a", line), line)
        self.assertFalse(rules.sleeps("tests/a", "# an asleep sleeper"))

    def test_an_atomic_without_a_model_is_found(self):
        model = '"""Lock (core/src/a.hpp, core/src/a.cpp)."""'
        modeled = rules.files_of_models([model])
        self.assertEqual(modeled, {"core/src/a.hpp", "core/src/a.cpp"})
        listed = "core/include/core/histogram.hpp"
        for path, line in (("core/src/b.hpp", "std::atomic<bool> a;"), ("core/src/b.hpp", "std::atomic_flag a;"),
                           ("core/src/b.cpp", "a.store(1, std::memory_order_release);"),
                           (listed, "std::atomic<bool> a; std::atomic_thread_fence(b);"), (listed, "bool a;")):
            self.assertTrue(rules.unmodeled_atomics(path, line, modeled), line)
        for path, line in (("core/src/a.cpp", "std::atomic<bool> a;"), (listed, "std::atomic<bool> a;"),
                           ("core/src/b.cpp", "a.load(std::memory_order_relaxed);  // std::atomic<bool>")):
            self.assertFalse(rules.unmodeled_atomics(path, line, modeled), line)

    def test_console_output_is_found_with_its_line(self):
        self.assertIn("line 2", rules.console_output("core/src/a.cpp", "\nstd::cout << 1;")[0])

    def test_a_reserved_name_is_found(self):
        for line in ("int _Count;", "struct a__b {};", "void __run();"):
            self.assertTrue(rules.reserved_names("core/src/a.cpp", line), line)
        self.assertFalse(rules.reserved_names("core/src/a.cpp", 'R"x(a "__run" b)x" + R"(\n__run)"'))
        self.assertFalse(rules.reserved_names("core/src/a.cpp", 'int line_ = __LINE__; // __run'))
        self.assertFalse(rules.reserved_names("core/src/a.cpp", 'name("TELEGATE__X_FILE \\" _Q", run_)'))

    def test_leftovers_are_found(self):
        for word in ("TO" + "DO", "FIX" + "ME", "X" + "XX"):
            self.assertTrue(rules.leftovers("a.md", f"// {word}: later"), word)
        self.assertFalse(rules.leftovers("a.cpp", 'mkdtemp("/tmp/tg-XX' + 'XXXX")'))

    def test_a_test_named_like_an_option_is_found(self):
        self.assertTrue(rules.test_names("tests/a_test.cpp", 'TEST_CASE("--help lists all", "[a]") {'))
        self.assertFalse(rules.test_names("tests/a_test.cpp", 'TEST_CASE("the flag --help lists all", "[a]") {'))

    def test_a_namespace_used_in_a_header_is_found(self):
        self.assertTrue(rules.namespace_in_header("a.hpp", "namespace a {\nusing namespace std;"))
        self.assertFalse(rules.namespace_in_header("a.hpp", "void f() {\n    using namespace std;\n}"))

    def test_a_header_without_guard_is_found(self):
        self.assertTrue(rules.header_guard("a.hpp", "#include <vector>\n#pragma once\n"))

    def test_a_preset_without_a_description_is_found(self):
        bad = '{"configurePresets": [{"name": "a", "displayName": "A", "description": "words"}, {"name": "b"}]}'
        self.assertEqual(len(rules.preset_texts("presets/a.json", bad)), 3)

    def test_a_preset_that_cannot_be_built_and_tested_is_found(self):
        bad = '{"configurePresets": [{"name": "a"}, {"name": "h", "hidden": true}], "buildPresets": [{"name": "a"}]}'
        self.assertEqual(rules.preset_twins("presets/a.json", bad), ["a: missing among the testPresets"])


if __name__ == "__main__":
    unittest.main()
